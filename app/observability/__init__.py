"""Logs, metrics, traces and analytics events."""
