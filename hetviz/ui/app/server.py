"""Streamlit server setup: router, routes, middleware and secrets."""

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from hetviz.io.limits import MB
from hetviz.serve.config import settings
from hetviz.serve.guard import RequestGuard
from hetviz.serve.process_pages import ProcessPages, ProcessPath
from hetviz.ui.app import joined_scripts
from hetviz.ui.app.first_paint import FirstPaint
from hetviz.ui.app.lifespan import lifespan
from hetviz.ui.app.packed_static import PackedStatic
from hetviz.ui.app.upload_limits import UploadLimits, visitor_bytes
from hetviz.ui.app.visitor_limit import VisitorLimit
from hetviz.ui.map import routes as map_routes
from hetviz.ui.shell import background, people
from hetviz.ui.shell.paths import ROUTER
from hetviz.ui.shell.session import show_error
from hetviz.ui.shell.visitors import VISITORS

__all__ = ["ROUTER", "lifespan", "middleware", "routes", "secrets", "show_error"]


def routes() -> list[BaseRoute]:
    """Return the routes served next to the pages."""
    VISITORS.upload_bytes = visitor_bytes
    own = [*map_routes.map_routes(), *joined_scripts.routes()]
    return [*own, *background.FIGURES.routes(settings().metrics)]


def middleware() -> list[Middleware]:
    """Return the middleware of every request."""
    access = people if people.has_login() else None
    return [
        Middleware(ProcessPath, base=settings().base),
        Middleware(RequestGuard, settings=settings(), figures=background.FIGURES, access=access),
        Middleware(ProcessPages, settings=settings()),
        Middleware(VisitorLimit, visitors=VISITORS, base=settings().base, access=access),
        Middleware(UploadLimits, max_bytes=settings().work.uploads_mb * MB),
        Middleware(FirstPaint),
        Middleware(PackedStatic),
    ]


def secrets() -> dict[str, object] | None:
    """Return the secrets of the login provider for Streamlit, or None without login."""
    return people.streamlit_secrets(settings().oidc) if people.has_login() else None
