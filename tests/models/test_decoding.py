"""Seeds, waves and text pieces of candidates, without a model."""

from __future__ import annotations

import hashlib

import pytest

from core.errors import ModelError
from models.llama.decoding import fork_seed, wave_size, waves


def test_fork_seed_is_the_first_four_bytes_of_the_hash() -> None:
    """int.from_bytes(sha256("7/3")[:4], "big"), computed through the hexadecimal digest."""
    assert fork_seed(7, 3) == int(hashlib.sha256(b"7/3").hexdigest()[:8], 16)
    assert len({fork_seed(1, index) for index in range(100)}) == 100


@pytest.mark.parametrize(
    ("room", "max_tokens", "forks", "exact", "expected"),
    [(1000, 100, 32, False, 10), (1000, 100, 4, False, 4), (1000, 100, 32, True, 1), (100, 100, 32, False, 1)],
)
def test_wave_size(room: int, max_tokens: int, forks: int, exact: bool, expected: int) -> None:
    assert wave_size(room=room, max_tokens=max_tokens, forks=forks, exact=exact) == expected


def test_no_room_for_one_candidate_is_a_model_error() -> None:
    with pytest.raises(ModelError) as caught:
        wave_size(room=99, max_tokens=100, forks=32, exact=False)
    assert caught.value.code == "context_full"


def test_waves_cover_all_candidates_once() -> None:
    assert [list(wave) for wave in waves(7, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
