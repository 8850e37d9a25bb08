"""Shared parts of all pages: router, session, frame and theme."""
