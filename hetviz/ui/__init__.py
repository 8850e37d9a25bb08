"""User interface: the pages of the app and the map for notebooks.

`hetviz.ui.notebook` and all that it imports work without Streamlit.
"""
