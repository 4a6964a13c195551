"""Middleware: authentication, CSRF, request bodies, security headers."""
