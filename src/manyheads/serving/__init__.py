"""The HTTP server: LibreTranslate's API, inspection, and the web page, for one or more runs.

| file | what it is |
|---|---|
| `options` | all options of the server |
| `server` | the application on a port: listening, signals, shutdown |
| `app` | the application: all endpoints, and errors as JSON |
| `translation_routes` | LibreTranslate's endpoints |
| `file_routes`, `finished_files` | files to translate, and what came of them |
| `inspection_routes` | the endpoints for attention, decoding steps, the beam and positions |
| `pages` | the web page, the list of endpoints, health and metrics |
| `schemas` | the descriptions of requests and responses in /openapi.json |
| `service` | the parts of a running server, and its operations without HTTP |
| `directions` | the pairs of languages that are served, and the run of each |
| `language_names` | the English names of languages |
| `run_model` | a run with its translator, its queue and its inspector, for all of its directions |
| `worker` | the translation and inspection of one direction |
| `batcher` | batches of sentences from several clients |
| `documents` | plain texts, and the interface of a text with sentences |
| `markup` | HTML as sentences and back |
| `long_words` | words that are too long to be translated |
| `admission` | limits on requests at once |
| `keys`, `rate_limiter`, `text_limits` | API keys; limits on requests in a minute, and on the size of texts |
| `arrivals`, `connections` | limits on what arrives slowly: bodies, and headers |
| `hosts`, `head` | the host names that the server answers to; HEAD |
| `bodies`, `forms` | the fields of a request, from JSON or a form |
| `api_errors` | errors that become responses |
| `request_log` | timing, counting and logging of requests |
| `logs` | the log as JSON lines |
| `metrics` | metrics for Prometheus |

Everything but `options` needs the extra `serve` (FastAPI, uvicorn), so nothing is imported here.
"""
