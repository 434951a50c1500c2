"""sgd, adamw and lion through the real tool against float64 transcriptions: 1, 100 and 10,000 steps."""
import unittest

import numpy as np

import formulas
from compare import EPS, check_change, check_close
from specs import adamw, lion, sgd
from stepc import SHAPES, VECTORS, follow, random_grads, random_params, run
from tensors import round_bf16, to_bf16

ALL = SHAPES | VECTORS
CASES = {
    "sgd": sgd(lr=0.1),
    "sgd momentum": sgd(lr=0.05, momentum=0.9, weight_decay=0.01),
    "sgd dampening": sgd(lr=0.05, momentum=0.8, dampening=0.3),
    "sgd nesterov": sgd(lr=0.05, momentum=0.9, weight_decay=0.02, nesterov=True),
    "adamw": adamw(lr=1e-3, weight_decay=1e-2),
    "adamw amsgrad": adamw(lr=3e-3, beta1=0.8, beta2=0.95, eps=1e-6, weight_decay=0.0, amsgrad=True),
    "lion": lion(lr=1e-3, weight_decay=0.1),
    "lion plain": lion(lr=1e-3, beta1=0.95, beta2=0.98, weight_decay=0.0),
}


class Elementwise(unittest.TestCase):
    def compare(self, steps, check):
        params, grads = random_params(ALL), random_grads(ALL, steps)
        for name, case in CASES.items():
            with self.subTest(name):
                ours, states = run(case.spec, params, grads, case.hypers, case.statics)
                exact, optimizers = follow(case.make, params, grads)
                for n in ALL:
                    optimizer = optimizers[n]
                    keep = ~np.broadcast_to(getattr(optimizer, "doubtful", False), ALL[n])
                    terms = np.broadcast_to(getattr(optimizer, "terms", 0.0), ALL[n])
                    check(f"{name} {n}", ours[n][keep], exact[n][keep], params[n][keep], optimizer.lr * terms[keep])
                    for state, value in optimizer.state.items():
                        check(f"{name} {n}/{state}", states[f"{n}/{state}"], value, 0 * value, terms)

    def test_one_step(self):
        self.compare(1, check_close)

    def test_hundred_steps(self):
        self.compare(100, lambda *a: check_change(*a, steps=100, tolerance=1e-3))

    def test_bf16_parameters(self):
        """Parameters and gradients in bf16, states in f32: the update is rounded once, at the end."""
        params = {n: round_bf16(x) for n, x in random_params(ALL).items()}
        grads = [{n: round_bf16(x) for n, x in g.items()} for g in random_grads(ALL, 1)]
        for name, case in CASES.items():
            with self.subTest(name):
                stored = {n: to_bf16(x).reshape(x.shape) for n, x in params.items()}
                ours, states = run(case.spec, stored, [{n: to_bf16(x).reshape(x.shape) for n, x in grads[0].items()}],
                                   case.hypers, case.statics)
                exact, optimizers = follow(case.make, params, grads)
                for n in ALL:
                    keep = ~np.broadcast_to(getattr(optimizers[n], "doubtful", False), ALL[n])
                    error = np.abs(ours[n] - exact[n])[keep]
                    half_ulp = np.abs(round_bf16(exact[n]) - exact[n])[keep]
                    noise = 8 * EPS * (np.abs(exact[n]) + np.abs(exact[n] - params[n]))[keep]
                    self.assertTrue((error <= half_ulp + noise).all(), f"{name} {n}")
                    self.assertTrue((ours[n] == round_bf16(ours[n])).all(), f"{name} {n} is bf16")
                    for state, value in optimizers[n].state.items():
                        check_change(f"{name} {n}/{state}", states[f"{n}/{state}"], value, 0 * value, steps=1,
                                     tolerance=1e-6)

    def test_late_bias_correction(self):
        shape = {"x": (19,)}
        params, grads = random_params(shape), random_grads(shape, 1)
        case = adamw(lr=1e-4, weight_decay=0.0)
        ours, _ = run(case.spec, params, grads, case.hypers, case.statics, steps=10000)
        exact, _ = follow(case.make, params, grads * 10000)
        check_change("adamw", ours["x"], exact["x"], params["x"], steps=10000, tolerance=1e-3)


if __name__ == "__main__":
    unittest.main()
