"""Graphics cards through PyTorch, with one code for numpy and PyTorch.

Without a card the compiled code for the processor runs instead. In tests numpy stands in for a
card, so that the code for cards is tested on machines without one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np

from hetviz._types import Array
from hetviz.errors import HetvizError, MissingExtraError, ParameterError

Tensor: TypeAlias = Any
"""An array of numpy or of PyTorch, on some device."""

PROCESSOR, AUTO = "cpu", "auto"
CARDS = {
    "cuda": "NVIDIA or AMD card (CUDA, ROCm)",
    "mps": "Apple graphics (Metal)",
}
_DEFAULT_MEMORY = 4e9
_INNER_SIZE, _PRECISION_STEP = 256, 2.0**-12


class ComputeDevice:
    """Numpy as a stand-in for a card."""

    kind, title = "numpy", "numpy"
    xp: Any = np

    def __init__(self) -> None:
        self.single, self.double = self.xp.float32, self.xp.float64
        self._location = "cpu"
        kinds = ("float32", "float64", "int64")
        self._dtypes = {getattr(self.xp, kind): np.dtype(kind) for kind in kinds}

    @property
    def has_double(self) -> bool:
        return bool(self.double != self.single)

    def array(self, values: object, dtype: object) -> Tensor:
        """Copy host values to the device as an array of this dtype."""
        return self.xp.asarray(np.array(values, self._dtypes[dtype]), device=self._location)

    def host(self, values: Tensor) -> Array:
        """Return a device array as a numpy array."""
        return np.asarray(values)

    def smallest(self, D: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Return the k smallest entries of each row of D and their columns, unordered."""
        columns = np.argpartition(D, k - 1, axis=1)[:, :k]
        return np.take_along_axis(D, columns, axis=1), columns

    def add_at(self, total: Tensor, places: Tensor, amounts: Tensor) -> None:
        """Add integers to entries of `total` (int64); an entry may occur several times."""
        np.add.at(total, places, amounts)

    def available_memory(self) -> float:
        """Return the memory available for large arrays, in bytes."""
        return _DEFAULT_MEMORY

    def free_cached_memory(self) -> None:
        """Free cached memory that is not in use."""

    def keeps_single_precision(self) -> bool:
        """Whether matrix products have full single precision: cards may use a shorter format."""
        ones = np.ones((_INNER_SIZE, _INNER_SIZE))
        product = self.array((1.0 + _PRECISION_STEP) * ones, self.single) @ self.array(
            ones, self.single
        )
        return float(product[0, 0]) > _INNER_SIZE * (1.0 + 0.5 * _PRECISION_STEP)


class TorchDevice(ComputeDevice):
    """A PyTorch device."""

    def __init__(self, kind: str) -> None:
        self.xp = importlib.import_module("torch")
        super().__init__()
        self.kind = self._location = kind
        if kind == "mps":
            self.double = self.single
        name = self.xp.cuda.get_device_name() if kind == "cuda" else CARDS.get(kind, kind)
        self.title = f"{name}, PyTorch {self.xp.__version__}"

    def host(self, values: Tensor) -> Array:
        return np.asarray(values.cpu().numpy())

    def smallest(self, D: Tensor, k: int) -> tuple[Tensor, Tensor]:
        top = self.xp.topk(D, k, dim=1, largest=False, sorted=False)
        return top.values, top.indices

    def add_at(self, total: Tensor, places: Tensor, amounts: Tensor) -> None:
        if self.kind != "mps":
            total.index_add_(0, places, amounts)
            return
        # Before PyTorch 2.10, index_add_ on mps does not support 64-bit integers.
        on_host = total.cpu().index_add_(0, places.cpu(), amounts.cpu())
        total.copy_(on_host)

    def available_memory(self) -> float:
        if self.kind == "cuda":
            card = self.xp.cuda
            # PyTorch caches memory that it has used and reuses it.
            cached = card.memory_reserved() - card.memory_allocated()
            return 0.5 * float(card.mem_get_info()[0] + cached)
        if self.kind == "mps":
            return 0.5 * float(self.xp.mps.recommended_max_memory())
        return _DEFAULT_MEMORY

    def free_cached_memory(self) -> None:
        if self.kind in CARDS:
            getattr(self.xp, self.kind).empty_cache()


def available_cards() -> list[str]:
    """Return the kinds of cards that PyTorch finds, in order of preference."""
    torch: Any = importlib.import_module("torch")
    is_available = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    return [kind for kind in CARDS if is_available[kind]()]


def device_by_name(name: str) -> ComputeDevice | None:
    """Return a card by its kind, or None for the processor."""
    if name == PROCESSOR:
        return None
    try:
        cards = available_cards()
    except ImportError:
        if name == AUTO:
            return None
        raise MissingExtraError(f"Computing on a card (device = {name!r})", "gpu") from None
    if name == AUTO:
        return TorchDevice(cards[0]) if cards else None
    if name in cards:
        return TorchDevice(name)
    available = f"only {cards[0]!r}" if cards else "no graphics card"
    raise ParameterError(
        f"Computing on a card (device = {name!r}): PyTorch finds {available}. Choose 'cpu', or "
        "'auto' to use a card if there is one. If this computer has such a card, install its "
        "driver and a PyTorch build for it."
    )


def reason_for_no_card() -> str:
    """Return the reason why "auto" finds no card."""
    try:
        available_cards()
    except ImportError:
        return "PyTorch, which a graphics card needs, is not installed (hetviz[gpu])"
    return "PyTorch finds no graphics card"


_current: ContextVar[ComputeDevice | None] = ContextVar("device", default=None)


def current_device() -> ComputeDevice | None:
    """Return the card in use in this context; None for the processor."""
    return _current.get()


@contextmanager
def compute_on(device: ComputeDevice | None) -> Iterator[None]:
    """Compute neighbours and layouts on a card in this context; on the processor if it is None."""
    token = _current.set(device)
    try:
        yield
    except RuntimeError as error:
        if device is None or "out of memory" not in str(error):
            raise
        raise HetvizError(
            f"The graphics card ({device.title}) has too little memory. "
            "Close other programs that use it, map fewer items, or choose device = 'cpu'."
        ) from error
    finally:
        _current.reset(token)
        if device is not None:
            device.free_cached_memory()
