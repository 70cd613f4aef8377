"""The announced ladder: on which rung a model runs, and why it is not the one that was wanted (runtime.md section 10).

A pure function of free memory, sizes and policy. Nothing falls silently: a rung that is not the wanted one carries its
reason, and the policy may stop there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

import msgspec

from core.errors import RungAsked, UserError
from models.device import GIB, Card, Fallback, Rung, WantedDevice
from models.plan import RAM_RESERVE, Sizes, too_large, vram_reserve

NO_CONTEXT = "There was not enough memory for the model's context."
ASK = "The setting fallback = ask, and nobody could be asked: nothing was started."
LEAST_SHARE = 0.25  # of the layers: with fewer on the card it only costs
RungName = Literal["gpu_full", "gpu_kv_q8", "gpu_partial", "cpu", "cpu_small"]
WORDS: dict[str, str] = {
    "gpu_full": "on the graphics card",
    "gpu_kv_q8": "on the graphics card with a compressed cache",
    "gpu_partial": "partly on the graphics card",
    "cpu": "on the processor",
    "cpu_small": "on the processor, as a smaller model",
}


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """Free memory in bytes, and whether there is a graphics card; `no_card`: why it cannot be used, empty if it can."""

    ram: int
    card: bool = False
    vram: int = 0
    vram_total: int = 0
    no_card: str = ""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What was wanted, what a fall means, and whether the site allows a smaller model in place of the chosen one."""

    wanted: WantedDevice = "auto"
    fallback: Fallback = "announce"
    smaller: bool = False


def choose_rung(
    room: Room, sizes: Sizes, policy: Policy, *, smaller: Sizes | None = None, failed: Collection[str] = ()
) -> Rung:
    """The first rung that fits, from the wanted one downwards.

    `smaller`: the pack for `cpu_small`, if there is one. `failed`: rungs that were tried and did not hold the context.

    Raises:
        UserError: `rung`, the wanted rung is not to be had and the policy does not let it fall (as `RungAsked` where a
            person may let it); `memory`, nothing fits.
    """
    steps = _tries(room, sizes, smaller if policy.smaller else None, on_card=_wants_card(room, policy))
    tries = [(name, why or (NO_CONTEXT if name in failed else ""), layers) for name, why, layers in steps]
    wanted, first, _layers = tries[0]
    found = next(((name, layers) for name, why, layers in tries if not why), None)
    if not first:
        return Rung(wanted=wanted, name=wanted, gpu_layers=sizes.layers if wanted == "gpu_full" else 0)
    if found is None:
        raise UserError(too_large(sizes.total() + RAM_RESERVE, room.ram), code="memory")
    name, layers = found
    if policy.fallback == "forbid":
        raise UserError(f"{first} The setting fallback = forbid stops here: nothing was started.", code="rung")
    if policy.fallback == "ask":
        text = f"{first} {ASK} Set it to announce to run {WORDS[name]}."
        raise RungAsked(text, why=first, rung=name, where=WORDS[name])
    return Rung(wanted=wanted, name=name, reason=f"{first} The model runs {WORDS[name]}.", gpu_layers=layers)


def _wants_card(room: Room, policy: Policy) -> bool:
    """A card that is there and cannot be used is as good as asked for: a fall from it is never silent."""
    return policy.wanted == "gpu" or (policy.wanted == "auto" and room.card)


def _tries(room: Room, sizes: Sizes, smaller: Sizes | None, *, on_card: bool) -> Iterator[tuple[RungName, str, int]]:
    """Every rung in order: its name, why it is not to be had (empty: it is), layers on the card."""
    if on_card and room.no_card:
        yield "gpu_full", f"The graphics card is not used: {room.no_card}.", 0
    elif on_card:
        yield from _card(room, sizes)
    yield "cpu", _short(sizes.total() + RAM_RESERVE, room.ram, "this computer has"), 0
    if smaller is not None:
        yield "cpu_small", _short(smaller.total() + RAM_RESERVE, room.ram, "this computer has"), 0


def _card(room: Room, sizes: Sizes) -> Iterator[tuple[RungName, str, int]]:
    reserve = vram_reserve(room.vram_total)
    has = "the graphics card has"
    yield "gpu_full", _short(sizes.total() + reserve, room.vram, has), sizes.layers
    yield "gpu_kv_q8", _short(sizes.total(q8=True) + reserve, room.vram, has), sizes.layers
    spare = room.vram - sizes.kv_q8 - sizes.compute - sizes.vision - reserve
    layers = min(sizes.layers, max(0, int(spare / (sizes.weights / sizes.layers))))
    enough = layers >= LEAST_SHARE * sizes.layers
    yield "gpu_partial", "" if enough else "Too few layers fit on the graphics card.", layers


def _short(need: int, free: int, where: str) -> str:
    """Why it does not fit; empty where it does."""
    if need <= free:
        return ""
    return f"The model needs {need / GIB:.1f} GiB and {where} {free / GIB:.1f} GiB free."


def room_of(ram_free: int, cards: tuple[Card, ...], *, card_is_there: bool) -> Room:
    """The room of this machine. Without a card that the library can use, `no_card` says why."""
    if cards:
        return Room(ram=ram_free, card=True, vram=cards[0].free, vram_total=cards[0].total)
    why = "this program's model engine was built without CUDA" if card_is_there else "no CUDA device was found"
    return Room(ram=ram_free, card=card_is_there, no_card=why)
