"""safetensors files as dictionaries of numpy arrays; bf16 is read as f32 and written from a Bf16 array."""
import json
import struct

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "BF16": "<u2"}


class Bf16(np.ndarray):
    """uint16 bits of bf16 values."""


def to_bf16(x):
    """Rounds to nearest even; the bits."""
    u = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16).view(Bf16)


def from_bf16(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def round_bf16(x):
    """The bf16 value nearest to each element of a float array, in its own dtype."""
    return from_bf16(to_bf16(x)).reshape(np.shape(x)).astype(np.asarray(x).dtype)


def write(path, tensors):
    header, blobs, at = {}, [], 0
    for name, x in tensors.items():
        kind = "BF16" if isinstance(x, Bf16) else {"f8": "F64", "f4": "F32", "i8": "I64"}[x.dtype.str[1:]]
        blob = np.ascontiguousarray(x).tobytes()
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read(path):
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        header, data = json.loads(f.read(n)), f.read()
    out = {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        x = np.frombuffer(data[slice(*t["data_offsets"])], DTYPES[t["dtype"]]).reshape(t["shape"])
        out[name] = from_bf16(x).reshape(t["shape"]) if t["dtype"] == "BF16" else x.copy()
    return out
