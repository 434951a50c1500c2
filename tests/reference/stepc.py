"""Runs the real `stepc run` on numpy arrays through safetensors files."""
import os
import pathlib
import subprocess
import tempfile

import numpy as np

import tensors

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("STEPC", str(ROOT / "build/release/stepc"))


def run(spec, params, grads, hypers=(), statics=(), steps=None, arguments=()):
    """Steps `params` with one dictionary of gradients a step; returns parameters, states (NAME/STATE)."""
    with tempfile.TemporaryDirectory(prefix="stepc-reference-") as folder:

        def at(name, content=None):
            path = os.path.join(folder, name + ".safetensors")
            if content is not None:
                tensors.write(path, content)
            return path

        command = [TOOL, "run", str(ROOT / "specs" / spec), "--target", "cpu", "--params", at("params", params)]
        for i, g in enumerate(grads):
            command += ["--grads", at(f"grads{i}", g)]
        command += ["--steps", str(steps or len(grads))]
        for name, value in dict(hypers).items():
            command += ["--set", f"{name}={value!r}"]
        for name, value in dict(statics).items():
            command += ["-D", f"{name}={str(value).lower()}"]
        command += ["--out-params", at("p"), "--out-state", at("s"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr}")
        return tensors.read(at("p")), tensors.read(at("s"))


SHAPES = {"wide": (24, 56), "tall": (56, 24), "square": (32, 32), "odd": (7, 13), "batch.wide": (3, 8, 20),
          "batch.tall": (2, 2, 21, 6)}
VECTORS = {"vector": (37,), "one": (1,)}


def random_params(shapes, seed=1):
    rng = np.random.default_rng(seed)
    return {n: (0.02 * rng.standard_normal(s)).astype(np.float32) for n, s in shapes.items()}


def random_grads(shapes, steps, seed=2):
    """Gradients of very different sizes, a few exact zeros among them."""
    rng = np.random.default_rng(seed)
    size = {n: 10.0 ** rng.uniform(-3, 1) for n in shapes}
    out = []
    for _ in range(steps):
        g = {n: size[n] * rng.standard_normal(s) * (rng.random(s) > 0.02) for n, s in shapes.items()}
        out.append({n: x.astype(np.float32) for n, x in g.items()})
    return out


def follow(make, params, grads):
    """The float64 trajectory of `make()` on each parameter: final parameters, optimizers."""
    p = {n: x.astype(np.float64) for n, x in params.items()}
    optimizers = {n: make() for n in params}
    for g in grads:
        p = {n: optimizers[n].step(x, g[n].astype(np.float64)) for n, x in p.items()}
    return p, optimizers
