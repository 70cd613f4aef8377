"""How a case is read: concepts, drugs, vital signs, laboratory results, the person, and what follows from them.

The door is `core.runtime.findings`; nothing here knows conditions, runs or models.
"""
