"""The screen: the only part of hetviz that knows Streamlit."""

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from hetviz.serve.config import settings
from hetviz.serve.guard import Guard
from hetviz.ui.map import pictures
from hetviz.ui.map import routes as map_routes
from hetviz.ui.shell.paths import ROUTER
from hetviz.ui.shell.warm import lifespan

__all__ = ["ROUTER", "lifespan", "middleware", "routes"]


def routes() -> list[BaseRoute]:
    """Return the routes to serve beside the pages."""
    return [*pictures.routes(), *map_routes.routes()]


def middleware() -> list[Middleware]:
    """Return what stands before every request."""
    return [Middleware(Guard, settings=settings())]
