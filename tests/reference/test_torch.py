"""Against the committed answers of torch's own optimizers (make_torch_vectors.py)."""
import unittest

import tensors
from compare import check_change
from stepc import ROOT, run
from torch_cases import CASES, MATRICES, SHAPES, STEPS


class Torch(unittest.TestCase):
    def test_vectors(self):
        vectors = tensors.read(ROOT / "tests/data/vectors/torch.safetensors")
        for case in CASES:
            names = MATRICES if case.matrices else tuple(SHAPES)
            params = {n: vectors[f"params/{n}"] for n in names}
            grads = [{n: vectors[f"grads/{i}/{n}"] for n in names} for i in range(STEPS)]
            with self.subTest(case.name):
                ours, states = run(case.spec, params, grads, case.hypers, case.statics)
                for n in names:
                    check_change(f"{case.name} {n}", ours[n], vectors[f"{case.name}/{n}"], params[n], steps=STEPS,
                                 tolerance=case.tolerance)
                    for state in case.states:
                        theirs = vectors[f"{case.name}/{n}/{state}"]
                        check_change(f"{case.name} {n}/{state}", states[f"{n}/{state}"], theirs, 0 * theirs, steps=STEPS,
                                     tolerance=2e-6)


if __name__ == "__main__":
    unittest.main()
