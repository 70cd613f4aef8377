"""Word lists and reference tables of retrieval, read as resources."""
