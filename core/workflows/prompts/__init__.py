"""Prompt files of the workflows; read through `core.runtime.prompts`."""
