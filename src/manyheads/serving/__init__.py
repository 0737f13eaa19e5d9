"""The HTTP server: LibreTranslate's API, looking inside, and the page, for several runs at once.

Everything but `options` needs the extra `serve` (FastAPI, uvicorn), so nothing is imported here.
"""
