/** The HTTP interface of the server. Every fault becomes an `ApiError` whose message is a sentence for the reader. */

/** A fault that can be shown as it is. */
export class ApiError extends Error {}

/**
 * Ask the server; a fault is thrown as a sentence.
 * @param {string} path relative to the page, so that it works below any prefix
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
async function ask(path, options) {
  let response;
  try {
    response = await fetch(new URL(path, document.baseURI), options);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new ApiError("The server does not answer. Is it still running?");
  }
  if (!response.ok) throw new ApiError(await complaint(response));
  return response;
}

/**
 * Say in a sentence what the server complains of.
 * @param {Response} response
 * @returns {Promise<string>}
 */
async function complaint(response) {
  const wait = response.headers.get("Retry-After");
  const advice = wait ? ` Try again in ${wait} s.` : "";
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error) return error + advice;
  } catch {
    // not JSON: the status has to do
  }
  return `The server refused with status ${response.status}.${advice}`;
}

/**
 * Read the lines of a streamed answer as they come, each one JSON.
 * @param {Response} response
 * @yields {object}
 */
async function* jsonLines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : lines.pop();
    for (const line of lines) if (line.trim()) yield JSON.parse(line);
    if (done) return;
  }
}

/**
 * Make the interface.
 * @param {() => string} key returns the API key, or "" where none is needed
 */
export function createApi(key) {
  /**
   * Post a JSON body.
   * @param {string} path
   * @param {object} body
   * @param {AbortSignal} signal
   * @returns {Promise<Response>}
   */
  function post(path, body, signal) {
    const whole = key() ? { ...body, api_key: key() } : body;
    const headers = { "Content-Type": "application/json" };
    return ask(path, { method: "POST", headers, body: JSON.stringify(whole), signal });
  }

  return {
    /** @returns {Promise<{code: string, name: string, targets: string[]}[]>} */
    languages: async () => (await ask("languages", {})).json(),

    /** @returns {Promise<object>} limits and defaults, as LibreTranslate gives them */
    settings: async () => (await ask("frontend/settings", {})).json(),

    /**
     * Translate one text.
     * @param {{q: string, source: string, target: string}} text
     * @param {number} alternatives
     * @param {AbortSignal} signal
     * @returns {Promise<object>}
     */
    translate: async ({ q, source, target }, alternatives, signal) =>
      (await post("translate", { q, source, target, format: "text", alternatives }, signal)).json(),

    /**
     * Fetch the attention of one layer.
     * @param {{q: string, source: string, target: string}} text
     * @param {string} kind
     * @param {number} layer
     * @param {AbortSignal} signal
     * @returns {Promise<object>}
     */
    inspect: async ({ q, source, target }, kind, layer, signal) =>
      (await post("inspect", { q, source, target, kind, layer }, signal)).json(),

    /**
     * Stream greedy decoding, one step at a time.
     * @param {{q: string, source: string, target: string}} text
     * @param {number} candidates
     * @param {AbortSignal} signal
     * @yields {object}
     */
    async *steps({ q, source, target }, candidates, signal) {
      for await (const line of jsonLines(await post("steps", { q, source, target, candidates }, signal))) {
        if (line.error) throw new ApiError(line.error);
        yield line;
      }
    },

    /**
     * Fetch the beam.
     * @param {{q: string, source: string, target: string}} text
     * @param {number} beam
     * @param {AbortSignal} signal
     * @returns {Promise<object>}
     */
    beam: async ({ q, source, target }, beam, signal) =>
      (await post("beam", { q, source, target, beam }, signal)).json(),

    /**
     * Fetch the sinusoids and their dot products.
     * @param {number} length
     * @param {number} width
     * @param {AbortSignal} signal
     * @returns {Promise<{encodings: number[][], dot_products: number[][]}>}
     */
    positions: async (length, width, signal) =>
      (await ask(`positions?length=${length}&width=${width}`, { signal })).json(),
  };
}
