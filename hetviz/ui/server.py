"""What Streamlit is told at the start: the router, routes, and what stands before requests."""

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from hetviz.serve.config import settings
from hetviz.serve.guard import RequestGuard
from hetviz.ui.map import routes as map_routes
from hetviz.ui.shell import background, people
from hetviz.ui.shell.first_paint import FirstPaint
from hetviz.ui.shell.lifespan import lifespan
from hetviz.ui.shell.paths import ROUTER

__all__ = ["ROUTER", "lifespan", "middleware", "routes", "secrets"]


def routes() -> list[BaseRoute]:
    """Return the routes to serve beside the pages."""
    return [
        *map_routes.map_routes(),
        *background.FIGURES.routes(settings().metrics),
    ]


def middleware() -> list[Middleware]:
    """Return what stands before every request."""
    is_allowed = people.may_request if people.has_login() else None
    return [
        Middleware(
            RequestGuard, settings=settings(), figures=background.FIGURES, is_allowed=is_allowed
        ),
        Middleware(FirstPaint),
    ]


def secrets() -> dict[str, object] | None:
    """Return what Streamlit needs to know of the provider that people log in with, if they do."""
    return people.streamlit_secrets(settings().oidc) if people.has_login() else None
