"""The tools a workflow may call; this list is explicit."""

from core.runtime.registry import RegisteredTool
from tools.calculator import calculator

TOOLS: tuple[RegisteredTool, ...] = (calculator,)
