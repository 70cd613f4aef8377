"""Importers: one file a source form. They know the form of the source, never a case or a run."""
