"""Reasons and reports: what a refresh would do, in words and in SQL."""
