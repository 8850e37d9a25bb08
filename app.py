import streamlit as st

from hetviz.ui.app.server import ROUTER, lifespan, middleware, routes, secrets, show_error

app = st.App(
    ROUTER,
    routes=routes(),
    lifespan=lifespan,
    middleware=middleware(),
    secrets=secrets(),
    on_script_error=show_error,
)
