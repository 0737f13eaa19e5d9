"""The application: every endpoint, with every error as `{"error": …}`."""

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
from manyheads.serving.directions import Directions
from manyheads.serving.inspecting import inspecting
from manyheads.serving.observing import Observing
from manyheads.serving.options import ServerOptions
from manyheads.serving.pages import mount_files, pages
from manyheads.serving.refusals import Disconnected, Refusal
from manyheads.serving.service import Service
from manyheads.serving.translating import translating


def create_app(directions: Directions, options: ServerOptions) -> FastAPI:
    """Return the application that serves these directions."""
    service = Service(directions, options)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Finish what was begun before the application ends."""
        yield
        await service.close()

    app = FastAPI(title="Manyheads", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    for router in (translating(service), inspecting(service), pages(service)):
        app.include_router(router)
    mount_files(app)
    _explain_errors(app)
    app.add_middleware(
        CORSMiddleware,
        allow_origins=[options.allow_origin],
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", "X-API-Key"],
        expose_headers=["Retry-After"],
        max_age=1_728_000,
    )
    app.add_middleware(Observing, meter=service.meter)
    app.state.service = service
    return app


def _explain_errors(app: FastAPI) -> None:
    """Answer whatever goes wrong with a status and a sentence."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        """What the server will not do, in its own words."""
        return _error(error.status, error.message, error.headers)

    @app.exception_handler(ManyheadsError)
    async def impossible(request: Request, error: ManyheadsError) -> Response:
        """What the model cannot do with this request."""
        return _error(400, str(error))

    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, error: RequestValidationError) -> Response:
        """A parameter of the wrong kind; the first one is named."""
        found = error.errors()[0]
        return _error(400, f"Invalid request: {found['loc'][-1]} parameter: {found['msg'].lower()}")

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        """An address or a method that there is not."""
        return _error(error.status_code, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Disconnected)
    async def gone(request: Request, error: Disconnected) -> Response:
        """A client that did not wait for its answer."""
        return Response(status_code=499)  # nobody reads it; the log does

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        """A fault of ours, whose details are for the log."""
        return _error(500, "Cannot translate text: an error of the server, which is in its log")


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error as LibreTranslate does."""
    return JSONResponse({"error": message}, status_code=status, headers=headers)
