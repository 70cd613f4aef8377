"""Model files and native inference libraries; the only package that loads them."""

from models.llama.loader import Site, open_backbone
from models.scripted import ScriptedBackbone

__all__ = ["ScriptedBackbone", "Site", "open_backbone"]
