"""Resource files of the runtime."""
