"""The screen: the app's pages, and the map that a notebook shows too.

Only what the app needs knows Streamlit; `hetviz.ui.notebook` and all that it uses load without it.
"""
