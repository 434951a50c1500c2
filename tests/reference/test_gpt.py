"""The gpt recipe through the real tool: global clip, skipped steps, the rule of each parameter."""
import unittest

import numpy as np

import formulas
from compare import check_change, check_close
from stepc import random_grads, random_params, run

SHAPES = {"transformer.wte.weight": (40, 24), "transformer.h.0.attn.c_attn.weight": (24, 72),
          "transformer.h.0.mlp.c_proj.weight": (96, 24), "transformer.h.0.ln_1.weight": (24,),
          "lm_head.weight": (40, 24)}
ELEMENTWISE = [n for n in SHAPES if ".h." not in n or "ln" in n]


def rule(name):
    """specs/gpt.opt, in formulas."""
    if "wte" in name or "lm_head" in name:
        return formulas.AdamW(lr=3e-3, weight_decay=0.0)
    if len(SHAPES[name]) >= 2:
        return formulas.Muon(lr=0.02, **formulas.ITERATIONS["polar_express"])
    return formulas.AdamW(lr=3e-4, weight_decay=0.0)


def follow_recipe(params, grads):
    p = {n: x.astype(np.float64) for n, x in params.items()}
    rules = {n: rule(n) for n in params}
    for g in grads:
        if not all(np.isfinite(x).all() for x in g.values()):
            continue
        _, factor = formulas.clip_factor(g, 1.0)
        p = {n: rules[n].step(x, g[n].astype(np.float64) * factor) for n, x in p.items()}
    return p, rules


class Gpt(unittest.TestCase):
    def setUp(self):
        self.params = random_params(SHAPES)
        self.grads = random_grads(SHAPES, 6)

    def test_clip(self):
        norm, _ = formulas.clip_factor(self.grads[0], 1.0)
        # Under the bound; just above it, where the 1e-6 shows; where the f32 sum of squares overflows.
        for size in (0.3 / norm, 1.05 / norm, 1e18):
            grads = [{n: (x * np.float32(size)).astype(np.float32) for n, x in g.items()} for g in self.grads[:1]]
            ours, states = run("gpt.opt", self.params, grads)
            exact, rules = follow_recipe(self.params, grads)
            for n in ELEMENTWISE:
                check_close(f"{size:g} {n}", ours[n], exact[n], self.params[n], ulps_of_update=6)
            for n in SHAPES:
                m = rules[n].state["m"]
                check_close(f"{size:g} {n}/m", states[f"{n}/m"], m, 0 * m, ulps_of_update=1)

    def test_several_steps(self):
        ours, _ = run("gpt.opt", self.params, self.grads)
        exact, _ = follow_recipe(self.params, self.grads)
        for n in SHAPES:
            check_change(n, ours[n], exact[n], self.params[n], steps=6, tolerance=1e-5 if n in ELEMENTWISE else 3e-2)

    def test_skipped_steps_leave_bits(self):
        bad = []
        for value, name in ((np.nan, "lm_head.weight"), (np.inf, "transformer.h.0.ln_1.weight")):
            g = {n: x.copy() for n, x in self.grads[0].items()}
            g[name].flat[7] = value
            bad.append(g)
        alone, states = run("gpt.opt", self.params, self.grads[:3])
        g = self.grads
        with_bad, with_bad_states = run("gpt.opt", self.params, [bad[0], g[0], g[1], bad[1], bad[0], g[2], bad[1]])
        for n in alone:
            self.assertEqual(alone[n].tobytes(), with_bad[n].tobytes(), n)
        for n in states:
            self.assertEqual(states[n].tobytes(), with_bad_states[n].tobytes(), n)
        only_bad, _ = run("gpt.opt", self.params, bad)
        for n in only_bad:
            self.assertEqual(only_bad[n].tobytes(), self.params[n].tobytes(), n)


if __name__ == "__main__":
    unittest.main()
