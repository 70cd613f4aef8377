"""Knowledge found: concepts, context, chunks, BM25, guidelines."""
