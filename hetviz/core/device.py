"""Graphics cards, by PyTorch: what of a fit runs on one is written once, for numpy and PyTorch.

The processor needs none of this: its own compiled code runs unless a card is asked for. Numpy takes
a card's place in tests, so that what runs on a card is tested where there is none.
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
_ROOM = 4e9
_INNER, _STEP = 256, 2.0**-12


class Device:
    """Numpy, in a card's place.

    Attributes
    ----------
    kind, title : str
        Its name in settings, and in words.
    xp : module
        What makes and transforms arrays: numpy or torch, by the names that both have.
    single, double : dtype of `xp`
        `double` is `single` where the device has no double precision.
    """

    kind, title = "numpy", "numpy"
    xp: Any = np

    def __init__(self) -> None:
        self.single, self.double = self.xp.float32, self.xp.float64
        self._place = "cpu"
        kinds = ("float32", "float64", "int64")
        self._kinds = {getattr(self.xp, kind): np.dtype(kind) for kind in kinds}

    @property
    def has_double(self) -> bool:
        """Whether it computes in double precision."""
        return bool(self.double != self.single)

    def array(self, values: object, dtype: object) -> Tensor:
        """Return a copy of numbers of the host, in a precision of `xp`."""
        return self.xp.asarray(np.array(values, self._kinds[dtype]), device=self._place)

    def host(self, values: Tensor) -> Array:
        """Return an array of the device as one of numpy."""
        return np.asarray(values)

    def smallest(self, D: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Return the k smallest of each row of D, and their columns, in no order."""
        columns = np.argpartition(D, k - 1, axis=1)[:, :k]
        return np.take_along_axis(D, columns, axis=1), columns

    def add_at(self, total: Tensor, places: Tensor, amounts: Tensor) -> None:
        """Add whole numbers to places of `total` (int64), of which some may be the same.

        Whole numbers have the same sum in any order, so that it does not matter which of a card's
        threads comes first.
        """
        np.add.at(total, places, amounts)

    def room(self) -> float:
        """Return how many bytes may be taken for large arrays."""
        return _ROOM

    def release(self) -> None:
        """Give back what memory is held but not used."""

    def multiplies_in_single(self) -> bool:
        """Whether products of matrices keep single precision: cards may be set to cut it short."""
        ones = np.ones((_INNER, _INNER))
        product = self.array((1.0 + _STEP) * ones, self.single) @ self.array(ones, self.single)
        return float(product[0, 0]) > _INNER * (1.0 + 0.5 * _STEP)


class TorchDevice(Device):
    """A device of PyTorch.

    Parameters
    ----------
    kind : str
        As PyTorch names it: "cuda", "mps"; "cpu" to try out what would run on a card.
    """

    def __init__(self, kind: str) -> None:
        self.xp = importlib.import_module("torch")
        super().__init__()
        self.kind = self._place = kind
        if kind == "mps":
            self.double = self.single
        name = self.xp.cuda.get_device_name() if kind == "cuda" else CARDS.get(kind, kind)
        self.title = f"{name}, PyTorch {self.xp.__version__}"

    def host(self, values: Tensor) -> Array:
        return np.asarray(values.cpu().numpy())

    def smallest(self, D: Tensor, k: int) -> tuple[Tensor, Tensor]:
        found = self.xp.topk(D, k, dim=1, largest=False, sorted=False)
        return found.values, found.indices

    def add_at(self, total: Tensor, places: Tensor, amounts: Tensor) -> None:
        if self.kind != "mps":
            total.index_add_(0, places, amounts)
            return
        # Before PyTorch 2.10 a Mac's card does not add whole numbers of 64 bits to places.
        here = total.cpu().index_add_(0, places.cpu(), amounts.cpu())
        total.copy_(here)

    def room(self) -> float:
        if self.kind == "cuda":
            card = self.xp.cuda
            # PyTorch keeps what it has used before, and takes it again.
            kept = card.memory_reserved() - card.memory_allocated()
            return 0.5 * float(card.mem_get_info()[0] + kept)
        if self.kind == "mps":
            return 0.5 * float(self.xp.mps.recommended_max_memory())
        return _ROOM

    def release(self) -> None:
        if self.kind in CARDS:
            getattr(self.xp, self.kind).empty_cache()


def cards() -> list[str]:
    """Return the kinds of cards that PyTorch finds here, the first to take first.

    Raises
    ------
    ImportError
        Without PyTorch.
    """
    torch: Any = importlib.import_module("torch")
    there = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    return [kind for kind in CARDS if there[kind]()]


def device_named(name: str) -> Device | None:
    """Return a card by its kind, or None for the processor.

    Parameters
    ----------
    name : str
        "cpu"; a kind of `CARDS`; or "auto", the first card that is there, or else the processor.

    Raises
    ------
    hetviz.errors.MissingExtraError
        If a card is asked for and PyTorch is not installed.
    hetviz.errors.ParameterError
        If PyTorch finds no such card.
    """
    if name == PROCESSOR:
        return None
    try:
        found = cards()
    except ImportError:
        if name == AUTO:
            return None
        raise MissingExtraError(f"Computing on a card (device = {name!r})", "gpu") from None
    if name == AUTO:
        return TorchDevice(found[0]) if found else None
    if name in found:
        return TorchDevice(name)
    there = f"only {found[0]!r}" if found else "no card at all"
    raise ParameterError(
        f"Computing on a card (device = {name!r}): PyTorch finds {there} here. Choose 'cpu', or "
        "'auto' for a card where there is one. If there is such a card, install its driver and a "
        "PyTorch that is built for it."
    )


def why_none() -> str:
    """Say why "auto" found no card."""
    try:
        cards()
    except ImportError:
        return "PyTorch, by which a graphics card is used, is not installed (hetviz[gpu])"
    return "PyTorch finds no graphics card"


_current: ContextVar[Device | None] = ContextVar("device", default=None)


def current_device() -> Device | None:
    """Return the card on which is computed what is called now; None for the processor."""
    return _current.get()


@contextmanager
def computing_on(device: Device | None) -> Iterator[None]:
    """Compute neighbours and layouts on a card within; on the processor where it is None.

    Raises
    ------
    hetviz.errors.HetvizError
        If the memory of the card is not enough.
    """
    before = _current.set(device)
    try:
        yield
    except RuntimeError as error:
        if device is None or "out of memory" not in str(error):
            raise
        raise HetvizError(
            f"The memory of the card ({device.title}) is not enough. "
            "Close what else uses it, map fewer items, or choose device = 'cpu'."
        ) from error
    finally:
        _current.reset(before)
        if device is not None:
            device.release()
