"""The graphics cards that the loaded ggml library can use, with their free memory (runtime.md section 10).

Through the library's own device list, so that it tells of what this build can really use. Knows no model.
"""

from __future__ import annotations

import ctypes
from typing import Any

from models.device import Card
from models.llama.library import load_library

CPU, GPU = 0, 1  # enum ggml_backend_dev_type


def graphics_cards() -> tuple[Card, ...]:
    """Graphics cards in the library's order; none where it was built without support for them."""
    return devices(GPU)


def devices(kind: int) -> tuple[Card, ...]:
    """Name, free and whole memory in bytes of every device of a kind."""
    library = _declared(load_library()._lib)
    handles = [library.ggml_backend_dev_get(n) for n in range(library.ggml_backend_dev_count())]
    return tuple(_card(library, handle) for handle in handles if library.ggml_backend_dev_type(handle) == kind)


def _declared(library: Any) -> Any:
    library.ggml_backend_dev_count.restype = ctypes.c_size_t
    library.ggml_backend_dev_get.restype = ctypes.c_void_p
    library.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
    library.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
    library.ggml_backend_dev_name.restype = ctypes.c_char_p
    library.ggml_backend_dev_name.argtypes = [ctypes.c_void_p]
    sizes = ctypes.POINTER(ctypes.c_size_t)
    library.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, sizes, sizes]
    library.ggml_backend_dev_memory.restype = None
    return library


def _card(library: Any, handle: int) -> Card:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    library.ggml_backend_dev_memory(handle, ctypes.byref(free), ctypes.byref(total))
    return Card(name=library.ggml_backend_dev_name(handle).decode(), free=free.value, total=total.value)
