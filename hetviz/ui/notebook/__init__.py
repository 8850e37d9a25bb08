"""Map widget for notebooks, with the component of the app and the kernel as its server."""
