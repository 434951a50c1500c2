"""What one rank of a model's mesh works on, as a model of its own without a mesh.

    python3 tests/models/rank.py tests/models/qwen3-30b-a3b.json [RANK] > tests/models/qwen3-30b-a3b-rank.json

- Stacks sharded on their batch dimension (experts, along ep): this rank's shard, cut as FSDP2 cuts.
- Matrices that a whole-matrix rule updates but that are sharded (along fsdp): each has one owner that holds it whole.
  The matrices of one kind are alike in shape, so dealing those of each kind out in order of the layers gives all ranks
  the same work and bytes wherever their number is a multiple of the ranks, as here.
- Everything else (vectors, embeddings and the output head, which element-wise rules update): this rank's shard.
"""

import itertools
import json
import math
import re
import sys

ELEMENT_WISE = re.compile(r"embed|lm_head")
BRACE = re.compile(r"\{(\d+)\.\.(\d+)\}")


def expand(entry):
    """The parameters that an entry with at most one brace stands for."""
    found = BRACE.search(entry["name"])
    if not found:
        return [entry]
    out = []
    for i in range(int(found[1]), int(found[2]) + 1):
        order = entry["order"]
        if isinstance(order, str):  # "1+i"
            order = sum(i if term == "i" else int(term) for term in order.split("+"))
        out.append({**entry, "name": BRACE.sub(str(i), entry["name"]), "order": order})
    return out


def shard(entry, mesh, rank):
    """The entry as this rank holds it, or None where it holds nothing."""
    shape = list(entry["shape"])
    for axis, dim in entry.get("place", {}).items():
        size, stride = mesh[axis]["size"], mesh[axis]["stride"]
        full = math.ceil(shape[dim] / size)
        coord = rank // stride % size
        shape[dim] = min(shape[dim], (coord + 1) * full) - min(shape[dim], coord * full)
    return {**entry, "shape": shape} if math.prod(shape) else None


def is_dealt(entry):
    """Whether each of these matrices goes whole to an owner: its rows or columns are sharded."""
    n = len(entry["shape"])
    return n >= 2 and not ELEMENT_WISE.search(entry["name"]) and max(entry["place"].values()) >= n - 2


def work_of(model, rank):
    out = []
    for entry in model["params"]:
        if is_dealt(entry):
            (axis,) = entry["place"]
            size, stride = model["mesh"][axis]["size"], model["mesh"][axis]["stride"]
            out += itertools.islice(expand(entry), rank // stride % size, None, size)
        else:
            out += filter(None, [shard(entry, model["mesh"], rank)])
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        model = json.load(f)
    rank = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print('{ "format": "stepc-model/1", "name": "%s-rank",\n  "params": [' % model["name"])
    rows = work_of(model, rank)
    for i, row in enumerate(rows):
        row.pop("place", None)
        items = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in row.items())
        print("    { %s }%s" % (items, "," if i + 1 < len(rows) else " ] }"))


main()
