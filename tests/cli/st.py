"""Writes safetensors files for the sessions, right ones and wrong ones.

st.py FILE NAME:DTYPE:SHAPE...     zeros; SHAPE as 2x3, or nothing for a scalar
st.py FILE --header TEXT [BYTES]   this very header, and so many zero bytes of data (0)
"""
import json
import struct
import sys

BITS = {"F32": 32, "BF16": 16, "F16": 16, "F64": 64, "U8": 8}


def tensors(words):
    header, at = {}, 0
    for word in words:
        name, dtype, shape = word.rsplit(":", 2)
        dims = [int(d) for d in shape.split("x")] if shape else []
        size = BITS[dtype] // 8
        for d in dims:
            size *= d
        header[name] = {"dtype": dtype, "shape": dims, "data_offsets": [at, at + size]}
        at += size
    return json.dumps(header), at


path, *rest = sys.argv[1:]
if rest[0] == "--header":
    text, size = rest[1], int(rest[2]) if len(rest) > 2 else 0
else:
    text, size = tensors(rest)
with open(path, "wb") as f:
    f.write(struct.pack("<Q", len(text.encode())) + text.encode() + bytes(size))
