"""Against optax in float64, where it has the same mathematics: sgd, adamw, lion. (Its amsgrad takes the maximum of
the corrected moment and its muon corrects the momentum's bias: other formulas.)"""
import unittest

import jax
import numpy as np
import optax

from compare import check_change
from specs import adamw, lion, sgd
from stepc import SHAPES, VECTORS, random_grads, random_params, run

jax.config.update("jax_enable_x64", True)

ALL = SHAPES | VECTORS
STEPS = 20
CASES = {
    "sgd": (sgd(lr=0.1), optax.sgd(0.1)),
    "sgd momentum": (sgd(lr=0.05, momentum=0.9), optax.sgd(0.05, momentum=0.9)),
    "sgd nesterov": (sgd(lr=0.05, momentum=0.9, nesterov=True), optax.sgd(0.05, momentum=0.9, nesterov=True)),
    "adamw": (adamw(lr=1e-3, weight_decay=1e-2), optax.adamw(1e-3, weight_decay=1e-2)),
    "lion": (lion(lr=1e-3, weight_decay=0.1), optax.lion(1e-3, b1=0.9, b2=0.99, weight_decay=0.1)),
}


def follow_optax(optimizer, params, grads):
    p = {n: x.astype(np.float64) for n, x in params.items()}
    state = optimizer.init(p)

    @jax.jit
    def step(p, state, g):
        updates, state = optimizer.update(g, state, p)
        return optax.apply_updates(p, updates), state

    for g in grads:
        p, state = step(p, state, {n: x.astype(np.float64) for n, x in g.items()})
    return {n: np.asarray(x) for n, x in p.items()}


class Optax(unittest.TestCase):
    def test_twenty_steps(self):
        params, grads = random_params(ALL), random_grads(ALL, STEPS)
        for name, (case, optimizer) in CASES.items():
            with self.subTest(name):
                ours, _ = run(case.spec, params, grads, case.hypers, case.statics)
                theirs = follow_optax(optimizer, params, grads)
                for n in ALL:
                    check_change(f"{name} {n}", ours[n], theirs[n], params[n], steps=STEPS, tolerance=1e-4)


if __name__ == "__main__":
    unittest.main()
