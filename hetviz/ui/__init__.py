"""The screen: the only part of hetviz that knows Streamlit."""

from starlette.routing import BaseRoute

from hetviz.ui import map_routes, pictures
from hetviz.ui.places import ROUTER
from hetviz.ui.warm import lifespan

__all__ = ["ROUTER", "lifespan", "routes"]


def routes() -> list[BaseRoute]:
    """Return the routes to serve beside the pages."""
    return [*pictures.routes(), *map_routes.routes()]
