"""The shapes of a stepc-model/1 file whose names have at most one {a..b}."""
import json
import re


def tensors(path):
    out = []
    for p in json.load(open(path))["params"]:
        braces = re.search(r"\{(\d+)\.\.(\d+)\}", p["name"])
        out += [tuple(p["shape"])] * (int(braces[2]) - int(braces[1]) + 1 if braces else 1)
    return out


def write_matrices(path, to):
    """The model without embeddings, vectors and scalars: what Muon updates."""
    model = json.load(open(path))
    model["params"] = [p for p in model["params"] if len(p["shape"]) >= 2 and "{" in p["name"]]
    with open(to, "w") as f:
        json.dump(model, f)
