import streamlit as st

from hetviz.ui.app.server import ROUTER, lifespan, middleware, routes, secrets

app = st.App(
    ROUTER,
    routes=routes(),
    lifespan=lifespan,
    middleware=middleware(),
    secrets=secrets(),
)
