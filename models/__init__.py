"""Model files and native inference libraries; the only package that loads them."""

from models.llama.loader import open_backbone
from models.scripted import ScriptedBackbone

__all__ = ["ScriptedBackbone", "open_backbone"]
