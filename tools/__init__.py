"""The tools a workflow may call; this list is explicit, and its order is that of every prompt."""

from core.runtime.registry import RegisteredTool
from tools.calculator import calculator
from tools.concepts import concept_lookup
from tools.drugs import drug_lookup
from tools.inner import finish, plan, think
from tools.knowledge import guideline_search, medrag
from tools.longdoc import long_doc_rag
from tools.text import entity_recognizer

TOOLS: tuple[RegisteredTool, ...] = (
    plan,
    think,
    finish,
    guideline_search,
    medrag,
    drug_lookup,
    concept_lookup,
    calculator,
    entity_recognizer,
    long_doc_rag,
)
