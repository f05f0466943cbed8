"""Logs to tables, tests and figures."""
