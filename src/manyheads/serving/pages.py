"""The web page, the list of endpoints, health and metrics. The pages load nothing from other servers."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST

from manyheads.serving import schemas
from manyheads.serving.service import Service

WEB = Path(__file__).parent / "web"
# Even if a text contains a script, the page runs only its own files.
POLICY = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; object-src 'none'"


def page_routes(service: Service) -> APIRouter:
    """Return the endpoints of this file."""
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        """Return the web page."""
        return FileResponse(WEB / "index.html", headers={"Content-Security-Policy": POLICY})

    @router.get("/health", responses=schemas.responses(schemas.record({"status": {"type": "string"}}), errors=False))
    async def health() -> dict[str, str]:
        """Return that the server is running."""
        return {"status": "ok"}

    @router.get(
        "/metrics",
        response_class=Response,
        responses=schemas.responses({"type": "string"}, kind="text/plain", errors=False),
    )
    async def metrics() -> Response:
        """Return metrics for Prometheus."""
        return Response(service.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)

    @router.get("/spec", include_in_schema=False)
    async def spec(request: Request) -> JSONResponse:
        """Return the OpenAPI description under LibreTranslate's path."""
        return JSONResponse(request.app.openapi())

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        """Return the list of endpoints as a page."""
        return HTMLResponse(endpoints_page(request.app.openapi()), headers={"Content-Security-Policy": POLICY})

    return router


def mount_files(app: FastAPI) -> None:
    """Serve the files of the web page."""
    app.mount("/static", StaticFiles(directory=WEB), name="static")


def endpoints_page(description: dict[str, Any]) -> str:
    """Return an OpenAPI description as an HTML page without scripts."""
    parts = [
        _endpoint(method, path, endpoint)
        for path, methods in description["paths"].items()
        for method, endpoint in methods.items()
    ]
    title = html.escape(description["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width"><style>'
        "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;"
        "color-scheme:light dark}"
        "table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0;vertical-align:top}"
        "</style>"
        f'<h1>{title}</h1><p>For programs: <a href="/openapi.json">openapi.json</a>.</p>{"".join(parts)}</html>'
    )


def _endpoint(method: str, path: str, endpoint: dict[str, Any]) -> str:
    """Return one endpoint with its fields as HTML."""
    content = endpoint.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    fields = dict(schema.get("properties", {}))
    fields |= {parameter["name"]: parameter["schema"] | parameter for parameter in endpoint.get("parameters", [])}
    rows = "".join(_field(name, field, name in schema.get("required", ())) for name, field in fields.items())
    kinds = html.escape(", ".join(content))
    return (
        f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>"
        + f"<p>{html.escape(endpoint.get('description', ''))}</p>"
        + (f"<table>{rows}</table>" if rows else "")
        + (f"<p><small>As {kinds}.</small></p>" if kinds else "")
    )


def _field(name: str, field: dict[str, Any], required: bool) -> str:
    """Return one field of a request as a table row."""
    description = field.get("description") or field.get("oneOf", [{}])[0].get("description", "")
    allowed = f" One of: {', '.join(field['enum'])}." if "enum" in field else ""
    default = f" Default: {field['default']}." if "default" in field else ""
    needed = " Required." if required else ""
    return f"<tr><td><code>{html.escape(name)}</code><td>{html.escape(description + allowed + default + needed)}"
