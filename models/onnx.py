"""ONNX Runtime sessions: opened from checked bytes, compared with what was asked, at most three kept (runtime.md 11).

The only module that loads the library, inside functions. Knows packs and the machine; must not know what a graph
computes: embedders and segmenters hand arrays in and take arrays out.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from core.errors import ModelError, SecurityError, UserError
from models.device import Rung
from models.packs import OpenPack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESIDENT = 3
SILENCE = "ORT_DISABLE_TELEMETRY"
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_TYPES = {"tensor(int64)": "int64", "tensor(float)": "float32", "tensor(int32)": "int32", "tensor(float16)": "float16"}
# Field 1 of an entry of TensorProto.external_data: the key "location". Weights outside the checked bytes begin so.
_OUTSIDE = b"\x0a\x08location\x12"


class ProviderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Where a graph is to run: processor threads, or a graphics card with the bytes it may take (0 = no limit)."""

    wanted: Literal["cpu", "gpu"] = "cpu"
    threads: int = 1
    device: int = 0
    memory: int = 0


class OnnxSession:
    """A loaded graph. `rung` says where it runs, and why if that is not what was asked; `warm_up_s` wall seconds."""

    def __init__(self, session: Any, rung: Rung) -> None:
        self._session = session
        self.rung = rung
        self.inputs: tuple[str, ...] = tuple(entry.name for entry in session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(entry.name for entry in session.get_outputs())
        begun = time.perf_counter()
        self.run(_zeros(session))
        self.warm_up_s = time.perf_counter() - begun

    def run(self, inputs: Mapping[str, NDArray[Any]], outputs: Sequence[str] = ()) -> list[NDArray[Any]]:
        """The named outputs (none named: all).

        Raises:
            ModelError: the graph refuses these inputs, or the session is closed.
        """
        if self._session is None:
            raise ModelError("The model session is closed.", code="onnx_closed")
        try:
            found: list[NDArray[Any]] = self._session.run(list(outputs) or None, dict(inputs))
        except Exception as error:  # the library's errors share no class of their own
            raise ModelError(f"The model graph failed: {_first_line(error)}", code="onnx_run") from error
        return found

    def close(self) -> None:
        self._session = None


def open_session(opened: OpenPack, file: str, plan: ProviderPlan) -> OnnxSession:
    """Load one graph of a checked pack, from the very bytes that were checked.

    Raises:
        UserError: the pack has no such file.
        SecurityError: the graph keeps weights in another file, which nobody checked.
        ModelError: it is no graph that this library runs.
    """
    if file not in opened.paths:
        raise UserError(f"The model pack {opened.pack.manifest.id} lacks its file {file}.", code="pack_file")
    data = Path(opened.paths[file]).read_bytes()
    if _OUTSIDE in data:
        text = f"The model pack {opened.pack.manifest.id}: {file} keeps weights outside its checked file. Not loaded."
        raise SecurityError(text, code="onnx_outside")
    session = _load(data, plan, opened.pack.manifest.id)
    return OnnxSession(session, _rung(plan.wanted, session.get_providers()))


def _library() -> Any:
    """ONNX Runtime, told before it is loaded that it may not report home.

    Its Linux builds since 1.29 write an identifier and send events by default, the first of them while they are
    loaded: only the variable, read at that moment, keeps them silent. The call is for Windows.
    """
    os.environ[SILENCE] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime


def _load(data: bytes, plan: ProviderPlan, pack: str) -> Any:
    onnxruntime = _library()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = plan.threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.enable_mem_pattern = False  # lengths vary from call to call
    options.log_severity_level = 4  # its messages may hold input; errors come as exceptions
    try:
        return onnxruntime.InferenceSession(data, options, providers=_providers(plan))
    except Exception as error:  # the library's errors share no class of their own
        raise ModelError(f"The model pack {pack} cannot be loaded: {_first_line(error)}", code="onnx_load") from error


def _providers(plan: ProviderPlan) -> list[str | tuple[str, dict[str, str]]]:
    if plan.wanted == "cpu":
        return [CPU]
    options = {"device_id": str(plan.device), "cudnn_conv_algo_search": "HEURISTIC"}
    if plan.memory:
        options["gpu_mem_limit"] = str(plan.memory)
    return [(CUDA, options), CPU]


def _rung(wanted: str, providers: Sequence[str]) -> Rung:
    """The library falls back to the processor in silence; here that is said."""
    name = "gpu" if CUDA in providers else "cpu"
    reason = "" if name == wanted else "The graphics card could not be used; this model runs on the processor."
    return Rung(wanted=wanted, name=name, reason=reason)


def _zeros(session: Any) -> dict[str, NDArray[Any]]:
    """Zeros of every input; an axis that may have any length has length 1."""
    import numpy as np

    return {
        entry.name: np.zeros([axis if isinstance(axis, int) else 1 for axis in entry.shape], dtype=_dtype(entry.type))
        for entry in session.get_inputs()
    }


def _dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    if name not in _TYPES:
        raise ModelError(f"The model graph wants an input of the kind {name}.", code="onnx_load")
    return np.dtype(_TYPES[name])


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


class ResidentSessions:
    """Sessions by role, made when first asked for; above `most` the one that was used longest ago is closed."""

    def __init__(self, most: int = RESIDENT) -> None:
        self._most = most
        self._held: OrderedDict[str, OnnxSession] = OrderedDict()

    def get(self, role: str, make: Callable[[], OnnxSession]) -> OnnxSession:
        """The session of a role; `make` opens it if it is not resident."""
        if role not in self._held:
            self._held[role] = make()
        self._held.move_to_end(role)
        while len(self._held) > self._most:
            _, oldest = self._held.popitem(last=False)
            oldest.close()
        return self._held[role]

    @property
    def roles(self) -> tuple[str, ...]:
        """Resident roles, the one used longest ago first."""
        return tuple(self._held)

    def close(self, role: str) -> None:
        """Close one role's session, if it is resident."""
        session = self._held.pop(role, None)
        if session is not None:
            session.close()

    def close_all(self) -> None:
        for role in self.roles:
            self.close(role)
