"""Uncommitted work of a checkout as Git objects, and its application to another checkout."""
