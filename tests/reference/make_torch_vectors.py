"""Writes tests/data/vectors/torch.safetensors: what torch's own optimizers answer on small tensors.

Run once, by hand, in an environment of requirements-torch.txt; the file is committed and read by test_torch.py.
Tensors: `params/NAME`, `grads/STEP/NAME`, then for each case `CASE/NAME` (parameter after the last step) and
`CASE/NAME/STATE`. The cases stand in torch_cases.py.
"""
import pathlib

import numpy as np
import torch

import tensors
from stepc import random_grads, random_params
from torch_cases import CASES, MATRICES, SHAPES, STEPS


def answer(case, params, grads):
    p = {n: torch.nn.Parameter(torch.tensor(x)) for n, x in params.items() if not case.matrices or n in MATRICES}
    optimizer = getattr(torch.optim, case.torch_class)(list(p.values()), **case.torch_arguments)
    for g in grads:
        for n, x in p.items():
            x.grad = torch.tensor(g[n])
        optimizer.step()
    out = {}
    for n, x in p.items():
        out[f"{case.name}/{n}"] = x.detach().numpy()
        for state, key in case.states.items():
            out[f"{case.name}/{n}/{state}"] = optimizer.state[x][key].numpy()
    return out


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    params, grads = random_params(SHAPES), random_grads(SHAPES, STEPS)
    out = {f"params/{n}": x for n, x in params.items()}
    for i, g in enumerate(grads):
        out.update({f"grads/{i}/{n}": x for n, x in g.items()})
    for case in CASES:
        out.update(answer(case, params, grads))
    path = pathlib.Path(__file__).resolve().parents[1] / "data/vectors/torch.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors.write(path, {n: np.asarray(x, np.float32) for n, x in out.items()})
    print(path, path.stat().st_size, "bytes, torch", torch.__version__)


if __name__ == "__main__":
    main()
