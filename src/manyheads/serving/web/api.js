/** The HTTP interface of the server. Every fault becomes an `ApiError` whose message is a sentence for the reader. */

/**
 * @typedef {object} Subject the sentence of a text that a view shows, and the parameters of its translation
 * @property {string} q the whole text
 * @property {string} source
 * @property {string} target
 * @property {number} sentence from 1
 * @property {number} alternatives
 */

/** A fault that can be shown as it is. */
export class ApiError extends Error {}

/**
 * Send a request to the server; an error is thrown with a message.
 * @param {string} path relative to the page, so that it works below any prefix
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
async function fetchResponse(path, options) {
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
    return fetchResponse(path, { method: "POST", headers, body: JSON.stringify(whole), signal });
  }

  return {
    /** @returns {Promise<{code: string, name: string, targets: string[]}[]>} */
    languages: async () => (await fetchResponse("languages", {})).json(),

    /** @returns {Promise<object>} limits and defaults, as LibreTranslate gives them */
    settings: async () => (await fetchResponse("frontend/settings", {})).json(),

    /**
     * Translate one text.
     * @param {{q: string, source: string, target: string, alternatives: number}} text
     * @param {AbortSignal} signal
     * @returns {Promise<object>}
     */
    translate: async (text, signal) => (await post("translate", { ...text, format: "text" }, signal)).json(),

    /**
     * Fetch the sentences of a text that the views can show.
     * @param {{q: string, source: string, target: string}} text
     * @param {AbortSignal} signal
     * @returns {Promise<string[]>}
     */
    sentences: async ({ q, source, target }, signal) =>
      (await (await post("sentences", { q, source, target }, signal)).json()).sentences,

    /**
     * Fetch the attention of one layer.
     * @param {Subject} subject
     * @param {string} kind
     * @param {number|null} layer from 1, or null for the last one
     * @param {AbortSignal} signal
     * @returns {Promise<object>}
     */
    inspect: async (subject, kind, layer, signal) =>
      (await post("inspect", { ...subject, kind, layer: layer ?? undefined }, signal)).json(),

    /**
     * Stream the decoding of the translation, one step at a time.
     * @param {Subject} subject
     * @param {number} candidates
     * @param {AbortSignal} signal
     * @yields {object}
     */
    async *steps(subject, candidates, signal) {
      for await (const line of jsonLines(await post("steps", { ...subject, candidates }, signal))) {
        if (line.error) throw new ApiError(line.error);
        yield line;
      }
    },

    /**
     * Fetch the beam.
     * @param {Subject} subject
     * @param {number} beam its width; 0 takes that of the translation
     * @param {AbortSignal} signal
     * @returns {Promise<object>}
     */
    beam: async (subject, beam, signal) =>
      (await post("beam", beam ? { ...subject, beam } : subject, signal)).json(),

    /**
     * Fetch the sinusoids and their dot products.
     * @param {number} length
     * @param {number} width
     * @param {AbortSignal} signal
     * @returns {Promise<{encodings: number[][], dot_products: number[][]}>}
     */
    async positions(length, width, signal) {
      const headers = key() ? { "X-API-Key": key() } : {};
      return (await fetchResponse(`positions?length=${length}&width=${width}`, { headers, signal })).json();
    },
  };
}
