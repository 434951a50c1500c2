"""A network learns from a teacher, its optimizer compiled from a spec. PYTHONPATH=runtime/python python3 THIS."""

import pathlib
import time

import numpy as np

import stepc.numpy

SPECS = pathlib.Path(__file__).resolve().parents[1] / "specs"
rng = np.random.default_rng(1)
normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)
x, teacher = normal(256, 16), (normal(16, 32) / 4, normal(32, 8) / 4)
target = np.tanh(x @ teacher[0]) @ teacher[1]

for spec, lr in (("adamw.opt", 0.01), ("muon.opt", 0.02)):
    rng = np.random.default_rng(2)
    params = {"w1": normal(16, 32) / 4, "w2": normal(32, 8) / 4}
    start = time.perf_counter()
    opt = stepc.numpy.Optimizer(params, SPECS / spec, sets={"lr": lr})
    print(f"{spec}  compiled and opened: {1e3 * (time.perf_counter() - start):.0f} ms")
    for i in range(201):
        h = np.tanh(x @ params["w1"])
        error = h @ params["w2"] - target
        if i % 50 == 0:
            print(f"{spec}  step {i:3}  loss {np.mean(error**2):.5f}")
        dy = error * (2 / error.size)
        dh = (dy @ params["w2"].T) * (1 - h * h)
        opt.hypers["lr"] = lr * (1 - i / 201)
        opt.step({"w1": x.T @ dh, "w2": h.T @ dy})
