"""The screen: the only part of hetviz that knows Streamlit."""

from hetviz.ui.pictures import routes
from hetviz.ui.places import ROUTER
from hetviz.ui.warm import lifespan

__all__ = ["ROUTER", "lifespan", "routes"]
