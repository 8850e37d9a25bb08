import streamlit as st

from hetviz.ui import ROUTER, routes

app = st.App(ROUTER, routes=routes())
