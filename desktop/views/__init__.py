"""Widgets; they know state and operations, never stores."""
