"""Muon through the real tool: one step within 1.5 times the plain bf16 algorithm's error, 100 steps near float64."""
import unittest

import numpy as np

from compare import EPS, check_change, check_close
from specs import muon
from stepc import SHAPES, follow, random_grads, random_params, run

CASES = {
    "keller": muon("keller", lr=0.02, momentum=0.95, weight_decay=0.0),
    "keller plain": muon("keller", nesterov=False, lr=0.02, momentum=0.9, weight_decay=0.1),
    "torch": muon("torch", lr=0.02, momentum=0.95, weight_decay=0.1),
    "moonlight": muon("moonlight", lr=0.001, momentum=0.95, weight_decay=0.1),
    "torch rms": muon("torch", factor="rms", nesterov=False, lr=0.001, momentum=0.9, weight_decay=0.0),
    "moonlight plain": muon("moonlight", nesterov=False, lr=0.001, momentum=0.9, weight_decay=0.0),
} | {name: muon(iteration=name, lr=0.02) for name in ("polar_express", "quintic", "cubic", "aol")}


class Muon(unittest.TestCase):
    def test_one_step(self):
        params, grads = random_params(SHAPES), random_grads(SHAPES, 1)
        for name, case in CASES.items():
            with self.subTest(name):
                ours, states = run(case.spec, params, grads, case.hypers, case.statics)
                exact, optimizers = follow(case.make, params, grads)
                plain = {n: self.plain(case, params[n], grads[0][n]) for n in SHAPES}
                for n in SHAPES:
                    noise = EPS * np.linalg.norm(params[n])
                    error = np.linalg.norm(ours[n] - exact[n])
                    bound = 1.5 * np.linalg.norm(plain[n] - exact[n]) + noise
                    self.assertLessEqual(error, bound, f"{name} {n}")
                    m = optimizers[n].state["m"]
                    check_close(f"{name} {n}/m", states[f"{n}/m"], m, 0 * m)

    def test_hundred_steps(self):
        params, grads = random_params(SHAPES), random_grads(SHAPES, 100)
        for name, case in CASES.items():
            with self.subTest(name):
                ours, states = run(case.spec, params, grads, case.hypers, case.statics)
                exact, optimizers = follow(case.make, params, grads)
                for n in SHAPES:
                    check_change(f"{name} {n}", ours[n], exact[n], params[n], steps=100, tolerance=3e-2)
                    m = optimizers[n].state["m"]
                    check_change(f"{name} {n}/m", states[f"{n}/m"], m, 0 * m, steps=100, tolerance=1e-5)

    @staticmethod
    def plain(case, p, g):
        optimizer = case.make()
        optimizer.bf16 = True
        return optimizer.step(p.astype(np.float64), g.astype(np.float64))


if __name__ == "__main__":
    unittest.main()
