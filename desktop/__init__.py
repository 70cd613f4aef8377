"""Window, command line, worker: where everything is put together."""
