import streamlit as st

from hetviz.ui import ROUTER, lifespan, routes

app = st.App(ROUTER, routes=routes(), lifespan=lifespan)
