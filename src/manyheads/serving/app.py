"""The application: all endpoints, with every error as `{"error": …}`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from manyheads import __version__
from manyheads.errors import ManyheadsError
from manyheads.extras import MissingPackageError
from manyheads.serving.api_errors import ApiError, ClientDisconnectedError
from manyheads.serving.directions import Directions
from manyheads.serving.file_routes import file_routes
from manyheads.serving.head import HeadAsGet
from manyheads.serving.hosts import AllowedHosts, HostCheck
from manyheads.serving.inspection_routes import inspection_routes
from manyheads.serving.options import ServerOptions
from manyheads.serving.pages import mount_files, page_routes
from manyheads.serving.request_log import RequestLog
from manyheads.serving.service import Service
from manyheads.serving.translation_routes import translation_routes


def create_app(directions: Directions, options: ServerOptions) -> FastAPI:
    """Return the application that serves these directions."""
    service = Service(directions, options)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Finish pending work before the application ends."""
        yield
        await service.close()

    app = FastAPI(title="Manyheads", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    for router in (
        translation_routes(service),
        file_routes(service),
        inspection_routes(service),
        page_routes(service),
    ):
        app.include_router(router)
    mount_files(app)
    _add_error_handlers(app)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=[options.allow_origin],
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", "X-API-Key"],
        expose_headers=["Retry-After"],
        max_age=1_728_000,
    )
    app.add_middleware(HeadAsGet)
    app.add_middleware(HostCheck, allowed=AllowedHosts(options.host, options.allowed_hosts))
    app.add_middleware(RequestLog, metrics=service.metrics)
    app.state.service = service
    return app


def _add_error_handlers(app: FastAPI) -> None:
    """Turn every exception into a response with a status and a message."""

    @app.exception_handler(ApiError)
    async def api_error(request: Request, error: ApiError) -> Response:
        """Return the status and the message of the error."""
        return _error(error.status, error.message, error.headers)

    @app.exception_handler(ManyheadsError)
    async def wrong_input(request: Request, error: ManyheadsError) -> Response:
        """Return 400 for a request that the model cannot process, and 501 for one that needs an extra."""
        return _error(501 if isinstance(error, MissingPackageError) else 400, str(error))

    @app.exception_handler(RequestValidationError)
    async def wrong_parameter(request: Request, error: RequestValidationError) -> Response:
        """Return 400 for wrong query parameters; the message names the first one."""
        first = error.errors()[0]
        return _error(400, f"Invalid request: {first['loc'][-1]} parameter: {first['msg'].lower()}")

    @app.exception_handler(HTTPException)
    async def http_exception(request: Request, error: HTTPException) -> Response:
        """Return the status of FastAPI, such as 404 for an unknown path."""
        return _error(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(ClientDisconnectedError)
    async def disconnected(request: Request, error: ClientDisconnectedError) -> Response:
        """Return 499, which is seen only in the log: the client is gone."""
        return Response(status_code=499)

    @app.exception_handler(Exception)
    async def internal_error(request: Request, error: Exception) -> Response:
        """Return 500 for an error of the server, whose details are only in the log."""
        return _error(500, "Cannot translate text: an error of the server, which is in its log")


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error response in the format of LibreTranslate."""
    return JSONResponse({"error": message}, status_code=status, headers=headers)
