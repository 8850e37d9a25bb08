"""What every page shares: the router, the session, the frame, the theme."""
