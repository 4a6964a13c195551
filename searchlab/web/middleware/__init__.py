"""Middleware: authentication, CSRF protection, request bodies, security headers."""
