"""The announced ladder on simulated memory: which rung, how many layers, and why (runtime.md section 10)."""

from __future__ import annotations

import pytest

from core.domain.pack import Architecture, Licence, PackFile, PackManifest
from core.errors import RungAsked, UserError
from models.device import Card, Rung
from models.ladder import NO_CONTEXT, Policy, Room, choose_rung, room_of
from models.plan import Sizes, sizes_of

GIB = 1 << 30


def sizes(weights: int, *, n_ctx: int = 16384) -> Sizes:
    """An 8B model of the Qwen3 family (36 layers, 8 heads of 128: 147,456 B a token)."""
    manifest = PackManifest(
        id="ii-medical-8b",
        version="1",
        role="text",
        family="qwen3",
        template="chatml",
        params_b=8.2,
        quant="Q5_K_M",
        files=(PackFile(path="model.gguf", size=weights, sha256="0"),),
        licence=Licence(spdx="Apache-2.0"),
        arch=Architecture(n_layer=36, n_kv_head=8, head_dim=128, n_ctx_train=40960),
    )
    return sizes_of(manifest, n_ctx)


EIGHT_B = sizes(5_450_000_000)  # II-Medical-8B Q5_K_M (runtime.md section 9): 5.08 GiB, cache 2.25 GiB at 16k
SMALL = sizes(98_362_432, n_ctx=256)


def room(vram: float, ram: float = 32) -> Room:
    card = int(vram * GIB)
    return Room(ram=int(ram * GIB), card=True, vram=card, vram_total=card)


# By hand, in GiB: weights 5.076, cache 2.25 (q8_0: 1.195), scratch 0.293; reserve a tenth, at least 0.75.
# 24: 7.62 + 2.40 = 10.02 | 16: 7.62 + 1.60 = 9.22 | 8: 8.42 > 8, q8 7.36 | 6: q8 7.31 > 6, layers (6 - 2.238) / 0.141
BY_HAND = [(24, "gpu_full", 36), (16, "gpu_full", 36), (8, "gpu_kv_q8", 36), (6, "gpu_partial", 26), (0, "cpu", 0)]


@pytest.mark.parametrize(("vram", "name", "layers"), BY_HAND)
def test_free_memory_selects_the_documented_rung(vram: float, name: str, layers: int) -> None:
    """Acceptance 12: free memory of 24, 16, 8, 6 and 0 GiB."""
    rung = choose_rung(room(vram), EIGHT_B, Policy(wanted="gpu"))
    assert (rung.wanted, rung.name, rung.gpu_layers) == ("gpu_full", name, layers)
    assert bool(rung.reason) == (name != "gpu_full")


@pytest.mark.parametrize(("vram", "name"), [(vram, name) for vram, name, _ in BY_HAND if name != "gpu_full"])
@pytest.mark.parametrize("fallback", ["forbid", "ask"])
def test_policy_stops_at_the_first_rung_that_fails(vram: float, name: str, fallback: str) -> None:
    with pytest.raises(UserError, match=f"fallback = {fallback}") as caught:
        choose_rung(room(vram), EIGHT_B, Policy(wanted="gpu", fallback=fallback))  # type: ignore[arg-type]
    assert caught.value.code == "rung"
    assert "nothing was started" in caught.value.text
    asked = caught.value if isinstance(caught.value, RungAsked) else None
    assert (asked.rung if asked else "") == (name if fallback == "ask" else "")


def test_reason_names_need_and_what_is_free_and_where_it_runs() -> None:
    rung = choose_rung(room(8), EIGHT_B, Policy(wanted="gpu"))
    assert rung.reason == (
        "The model needs 8.4 GiB and the graphics card has 8.0 GiB free. "
        "The model runs on the graphics card with a compressed cache."
    )


def test_with_a_quarter_of_the_layers_or_less_the_card_is_left_alone() -> None:
    """9 of 36 layers need 1.269 GiB beside 2.238: at 3.6 GiB they fit, at 3.5 not."""
    assert choose_rung(room(3.6), EIGHT_B, Policy(wanted="gpu")).gpu_layers == 9
    assert choose_rung(room(3.5), EIGHT_B, Policy(wanted="gpu")).name == "cpu"


def test_smaller_model_only_where_the_site_allows_it() -> None:
    """4 GiB of RAM: 7.62 + 2 do not fit; the small one (0.4 + 2) does."""
    with pytest.raises(UserError, match=r"needs 9\.6 GiB of free memory and 4\.0 GiB are free"):
        choose_rung(Room(ram=4 * GIB), EIGHT_B, Policy(), smaller=SMALL)
    allowed = Policy(smaller=True)
    rung = choose_rung(Room(ram=4 * GIB), EIGHT_B, allowed, smaller=SMALL)
    assert (rung.wanted, rung.name) == ("cpu", "cpu_small")
    assert "as a smaller model" in rung.reason
    with pytest.raises(UserError) as caught:
        choose_rung(Room(ram=2 * GIB), EIGHT_B, allowed, smaller=SMALL)
    assert caught.value.code == "memory"


def test_rung_that_did_not_hold_the_context_is_left_for_the_next() -> None:
    """Section 6: the context was refused for memory, whatever the plan had said."""
    rung = choose_rung(room(24), EIGHT_B, Policy(wanted="gpu"), failed={"gpu_full"})
    assert rung.name == "gpu_kv_q8"
    assert rung.reason.startswith(NO_CONTEXT)


@pytest.mark.parametrize(
    ("there", "why"),
    [(False, "no CUDA device was found"), (True, "this program's model engine was built without CUDA")],
)
def test_card_that_is_not_used_is_announced_never_silent(there: bool, why: str) -> None:
    """Acceptance 13: asked for on a machine without it."""
    found = room_of(32 * GIB, (), card_is_there=there)
    rung = choose_rung(found, EIGHT_B, Policy(wanted="gpu"))
    assert (rung.wanted, rung.name) == ("gpu_full", "cpu")
    assert rung.reason == f"The graphics card is not used: {why}. The model runs on the processor."


def test_complaint_B1_at_the_choice() -> None:
    """ollama/ollama#10707: a silent fall to the processor. A card that is there is as good as asked for."""
    found = room_of(32 * GIB, (), card_is_there=True)
    assert choose_rung(found, EIGHT_B, Policy(wanted="auto")).reason
    with pytest.raises(UserError, match="forbid"):
        choose_rung(found, EIGHT_B, Policy(wanted="auto", fallback="forbid"))


@pytest.mark.parametrize("wanted", ["auto", "cpu"])
def test_processor_as_wanted_needs_no_reason(wanted: str) -> None:
    found = room_of(32 * GIB, (), card_is_there=False)
    rung = choose_rung(found, EIGHT_B, Policy(wanted=wanted, fallback="forbid"))  # type: ignore[arg-type]
    assert rung == Rung(wanted="cpu", name="cpu")


def test_processor_asked_for_leaves_a_card_alone() -> None:
    cards = (Card(name="CUDA0", free=24 * GIB, total=24 * GIB),)
    found = room_of(32 * GIB, cards, card_is_there=True)
    assert choose_rung(found, EIGHT_B, Policy(wanted="auto")).name == "gpu_full"
    assert choose_rung(found, EIGHT_B, Policy(wanted="cpu")) == Rung(wanted="cpu", name="cpu")
