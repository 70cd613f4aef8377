"""SQLite and the artifact files: the only writers of what must last."""
