"""The screen: the only part of hetviz that knows Streamlit."""

from hetviz.ui.pictures import routes
from hetviz.ui.places import ROUTER

__all__ = ["ROUTER", "routes"]
