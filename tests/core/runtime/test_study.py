"""A guideline goes through the real decode child and comes back in sections; what cannot be read says why."""

import threading

import pytest

from core.errors import UserError
from core.runtime.foreign import Decoder
from core.settings import Settings
from tests.helpers.paper import Words, page_of, written


def test_sections_come_back_from_the_child_and_refusals_as_sentences() -> None:
    guideline = written([[Words(text="Asthma", size=18), Words(text="Oxygen first.", y=660)], page_of("Then more.")])
    with Decoder(Settings(), threading.Event()) as decoder:
        found = decoder.study("asthma.pdf", guideline)
        with pytest.raises(UserError) as refused:
            decoder.study("locked.pdf", written([page_of("x")], password="opensesame"))
        again = decoder.study("note.md", b"# Title\nText.")
    assert (found.title, found.form, found.pages) == ("Asthma", "pdf", 2)
    assert [(s.path, s.text, s.page_from, s.page_to) for s in found.sections] == [
        ("Asthma", "Oxygen first.\nThen more.", 1, 2),
    ]
    assert (refused.value.code, refused.value.text) == ("password", "This PDF is protected by a password.")
    assert again.sections[0].text == "Text."
