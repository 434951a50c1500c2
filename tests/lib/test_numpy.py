"""stepc.numpy through the built libraries: updates in place, settings, refusals, lifetimes."""

import collections.abc
import copy
import gc
import pathlib
import pickle
import subprocess
import sys
import unittest
import unittest.mock
import warnings
import weakref

import numpy as np

import stepc
import stepc.numpy
from stepc.numpy import Optimizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPECS = ROOT / "specs"
PLAIN = "spec 1\noptimizer plain {\n  hyper lr : f32 = 0.5 in [0, 1]\n  param := param - lr * grad\n}\n"
TWO = ('spec 1\nimport "sgd.opt"\nrecipe two {\n  clip global_norm 1.0\n'
       '  use sgd as bias(lr = 0.5) when rank == 1\n  use sgd as rest(lr = 0.25)\n}\n')


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


class Made(collections.abc.Mapping):
    """Makes its arrays when asked, as an open .npz file does."""

    def __init__(self, values, n):
        self.values_of, self.n = values, n

    def __getitem__(self, name):
        return np.full(self.n, self.values_of[name], np.float32)

    def __iter__(self):
        return iter(self.values_of)

    def __len__(self):
        return len(self.values_of)


class Updates(unittest.TestCase):
    def test_in_place(self):
        w, b = ones(4, 3), ones(3)
        view = w[1:]
        opt = Optimizer({"w": w, "b": b}, text=PLAIN)
        opt.step({"w": ones(4, 3), "b": 2 * ones(3)})
        self.assertTrue((view == 0.5).all() and (b == 0).all())

    def test_adamw_is_its_formula(self):
        rng = np.random.default_rng(1)
        w = rng.standard_normal((33, 17)).astype(np.float32)
        want, m, v = w.astype(np.float64), 0, 0
        opt = Optimizer({"w": w}, SPECS / "adamw.opt", sets={"lr": 0.01})
        for t in range(1, 6):
            g = rng.standard_normal(w.shape).astype(np.float32)
            opt.step({"w": g})
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g.astype(np.float64) ** 2
            u = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            want = want * (1 - 0.01 * 0.01) - 0.01 * u
        np.testing.assert_allclose(w, want, rtol=2e-6, atol=2e-7)

    def test_who_is_absent_takes_no_part(self):
        w, b, f = ones(2), ones(2), ones(2)
        opt = Optimizer({"w": w, "b": b, "f": f}, text=PLAIN, frozen=["f"])
        opt.step({"w": ones(2), "b": None})
        opt.step({})
        self.assertEqual((w[0], b[0], f[0]), (0.5, 1, 1))

    def test_frozen_ones_may_be_read_only(self):
        w, f = ones(2), ones(2)
        f.flags.writeable = False
        opt = Optimizer({"w": w, "f": f}, text=PLAIN, frozen=(name for name in "f"))
        opt.step({"w": ones(2)})
        self.assertEqual((w[0], f[0]), (0.5, 1))

    def test_scalars_empty_and_any_rank(self):
        params = {"s": np.array(1, np.float32), "e": ones(0, 3), "r": ones(2, 2, 2, 2)}
        Optimizer(params, text=PLAIN).step({n: np.ones_like(a) for n, a in params.items()})
        self.assertEqual((params["s"], params["r"].sum()), (0.5, 8))

    def test_bfloat16_as_bits_and_as_itself(self):
        bits = np.full(5, 0x3F80, np.uint16)  # 1.0
        Optimizer({"w": bits}, text=PLAIN, grad_dtype="f32").step({"w": ones(5)})
        self.assertEqual(bits[0], 0x3F00)
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("no ml_dtypes")
        w = np.ones(5, ml_dtypes.bfloat16)
        Optimizer({"w": w}, text=PLAIN).step({"w": np.ones(5, ml_dtypes.bfloat16)})
        self.assertEqual(float(w[4]), 0.5)

    def test_threads_give_the_same_bits(self):
        g = np.random.default_rng(1).standard_normal((300, 200)).astype(np.float32)
        one, four = g.copy(), g.copy()
        for w, threads in ((one, 1), (four, 4)):
            Optimizer({"w": w}, SPECS / "muon.opt", threads=threads).step({"w": g})
        self.assertEqual(one.tobytes(), four.tobytes())

    def test_the_example_learns(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "examples" / "numpy_trainer.py"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for spec in ("adamw.opt", "muon.opt"):
            loss = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith(spec) and "loss" in line]
            self.assertLess(loss[-1], loss[0] / 10)


class Settings(unittest.TestCase):
    def test_hypers(self):
        w = ones(2)
        opt = Optimizer({"w": w}, text=PLAIN, sets={"lr": 0.125})
        self.assertEqual(dict(opt.hypers), {"plain.lr": 0.125})
        opt.hypers["lr"] = 1
        opt.step({"w": ones(2)})
        self.assertEqual(w[0], 0)
        opt.hypers["plain.lr"] = 2  # out of its range: refused by the step, which changes nothing
        with self.assertRaisesRegex(stepc.Error, r"plain.lr = 2 is outside \[0, 1\]"):
            opt.step({"w": ones(2)})
        self.assertEqual(w[0], 0)
        with self.assertRaisesRegex(KeyError, "no hyper: plain.lr"):
            opt.hypers["learning_rate"] = 1

    def test_labels_and_torchs_names(self):
        opt = Optimizer({"w": ones(2, 2), "b": ones(2)}, SPECS / "two.opt", text=TWO)
        with self.assertRaisesRegex(KeyError, "several hypers"):
            opt.hypers["lr"]
        self.assertEqual((opt.hypers["bias.lr"], opt.hypers["rest.lr"]), (0.5, 0.25))
        opt.hypers["rest.weight_decay"] = 0.5
        self.assertEqual(opt.hypers["rest.wd"], 0.5)
        opt.step({"w": ones(2, 2), "b": ones(2)})
        self.assertAlmostEqual(opt.report.grad_norm, 6**0.5)
        self.assertLess(opt.report.clip_factor, 0.5)
        self.assertEqual([r.label for r in opt.program.rules], ["rest", "bias"])

    def test_statics(self):
        opt = Optimizer({"w": ones(2)}, SPECS / "adamw.opt", defines={"amsgrad": True})
        self.assertEqual(opt.program.state_bytes, 3 * 2 * 4)
        self.assertIn("define", opt.program.emit("llvm"))

    def test_numbers_of_numpy(self):
        opt = Optimizer({"w": ones(2)}, SPECS / "adamw.opt", sets={"lr": np.float64(0.25), "wd": np.int64(1)},
                        defines={"amsgrad": np.bool_(True)})
        self.assertEqual((opt.hypers["lr"], opt.hypers["wd"]), (0.25, 1))
        self.assertEqual(opt.program.state_bytes, 3 * 2 * 4)

    def test_notes_of_the_runtime(self):
        self.assertIn("products by", " ".join(Optimizer({"w": ones(64, 64)}, SPECS / "muon.opt").notes))


class Refusals(unittest.TestCase):
    def refused(self, error, words, params, **more):
        with self.assertRaisesRegex(error, words):
            Optimizer(params, text=PLAIN, **more)

    def test_parameters(self):
        read_only = ones(2)
        read_only.flags.writeable = False
        both = ones(4)
        odd = np.frombuffer(bytearray(9), np.uint8)[1:9].view(np.float32)
        self.refused(TypeError, "'w' is a numpy array", {"w": [1.0]})
        self.refused(TypeError, "'w' has dtype float64", {"w": np.ones(2)})
        self.refused(TypeError, "'w' has dtype >f4", {"w": np.ones(2, ">f4")})
        self.refused(ValueError, "'w' is not C-contiguous", {"w": ones(4, 3).T})
        self.refused(ValueError, "'w' is not aligned", {"w": odd})
        self.refused(ValueError, "'w' is read-only", {"w": read_only})
        self.refused(ValueError, "'a' and 'b' share memory", {"a": both[:3], "b": both[2:]})
        self.refused(ValueError, "NUL", {"w\0": ones(2)})
        self.refused(ValueError, "'x'", {"w": ones(2)}, frozen=["x"])
        self.refused(stepc.Error, "model", {})
        self.refused(stepc.Error, "8 dimensions", {"w": ones(*[1] * 9)})

    def test_gradients(self):
        w = ones(2, 2)
        opt = Optimizer({"w": w, "f": ones(1)}, text=PLAIN, frozen=["f"])
        for error, words, grads in (
            (KeyError, "'x'", {"x": ones(2, 2)}),
            (ValueError, "frozen", {"f": ones(1)}),
            (TypeError, "gradient of 'w'.*float64", {"w": np.ones((2, 2))}),
            (TypeError, "compiled for float32", {"w": np.ones((2, 2), np.uint16)}),
            (ValueError, r"shape \(4,\), the parameter \(2, 2\)", {"w": ones(4)}),
            (ValueError, "C-contiguous", {"w": ones(2, 4)[:, ::2]}),
        ):
            with self.assertRaisesRegex(error, words):
                opt.step(grads)
        self.assertTrue((w == 1).all())

    def test_specs(self):
        text = PLAIN.replace("lr * grad", "lx * grad")
        with self.assertRaises(stepc.Error) as caught:
            Optimizer({"w": ones(2)}, "mine.opt", text=text)
        self.assertRegex(str(caught.exception), r"mine.opt:4:20: error\[E0201\]")
        d = caught.exception.diagnostics[0]
        self.assertEqual((d.severity, d.code, d.path, d.line, d.col), ("error", "E0201", "mine.opt", 4, 20))
        self.assertEqual(d.notes[0].severity, "help")
        with self.assertRaisesRegex(stepc.Error, "E0001.*nowhere.opt"):
            Optimizer({"w": ones(2)}, "nowhere.opt")
        with self.assertRaisesRegex(ValueError, "coffee"):
            Optimizer({"w": ones(2)}, text=PLAIN).program.emit("coffee")

    def test_warnings_are_pythons(self):
        with self.assertWarnsRegex(UserWarning, "W0907"):
            Optimizer({"w": ones(2, 2)}, SPECS / "muon.opt")


class Lifetimes(unittest.TestCase):
    def test_arrays_live_as_long_as_the_optimizer(self):
        w = ones(100000)
        alive = weakref.ref(w)
        opt = Optimizer({"w": w}, text=PLAIN)
        del w
        gc.collect()
        opt.step({"w": ones(100000)})
        self.assertIsNotNone(alive())
        del opt  # no cycle: gone at once
        self.assertIsNone(alive())

    def test_gradients_made_when_asked_live_through_the_step(self):
        n = 1 << 20
        w, b = np.zeros(n, np.float32), np.zeros(n, np.float32)
        Optimizer({"w": w, "b": b}, text=PLAIN, sets={"lr": 1}).step(Made({"w": 2, "b": 3}, n))
        self.assertTrue((w == -2).all() and (b == -3).all())

    def test_copies_are_refused(self):
        opt = Optimizer({"w": ones(2)}, text=PLAIN)
        for thing in (opt, opt.program):
            for take in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "cannot be copied"):
                    take(thing)

    def test_an_interrupt_leaves_no_half_step(self):
        w = ones(2)
        opt = Optimizer({"w": w}, text=PLAIN, sets={"lr": 0.125})
        for i, name in enumerate(("steprt_begin", "steprt_run", "steprt_end")):
            real, calls = getattr(stepc._c.steprt, name), []

            def interrupted(*arguments):
                status = real(*arguments)
                calls.append(name)
                if len(calls) == 1:
                    raise KeyboardInterrupt
                return status

            with unittest.mock.patch.object(stepc._c.steprt, name, interrupted), self.assertRaises(KeyboardInterrupt):
                opt.step({"w": ones(2)})
            opt.step({"w": ones(2)})
            self.assertEqual(w[0], 1 - (i + 1) * 0.25)

    def test_states_are_read_and_written(self):
        spec = "spec 1\noptimizer x {\n  state m : f32 like param\n  m := m + grad\n  param := param - m\n}\n"
        w, m = ones(2), np.zeros(2, np.float32)
        opt = Optimizer({"v": ones(3), "w": w}, text=spec)
        opt.step({"w": ones(2)})
        opt.read_state("w", "m", m)
        self.assertEqual(list(m), [1, 1])
        opt.write_state("w", "m", np.array([5, 7], np.float32))
        opt.step({"w": ones(2)})
        self.assertEqual(list(w), [1 - 1 - 6, 1 - 1 - 8])
        m.flags.writeable = False
        for call, error, text in ((lambda: opt.read_state("w", "m", np.zeros(3, np.float32)), stepc.Error, "has 8 bytes, not 12"),
                                  (lambda: opt.write_state("w", "n", ones(2)), stepc.Error, "no state 'n'"),
                                  (lambda: opt.write_state("x", "m", ones(2)), KeyError, "no parameter is named"),
                                  (lambda: opt.write_state("w", "m", [1, 2]), TypeError, "C-contiguous"),
                                  (lambda: opt.read_state("w", "m", m), ValueError, "read-only")):
            with self.assertRaisesRegex(error, text):
                call()

    def test_hypers_keep_it_alive(self):
        hypers = Optimizer({"w": ones(2)}, text=PLAIN).hypers
        gc.collect()
        self.assertEqual(hypers["lr"], 0.5)

    def test_many(self):
        kept = [Optimizer({"w": ones(8)}, text=PLAIN, threads=1) for _ in range(8)]
        del kept[::2]
        for opt in kept:
            opt.step({"w": ones(8)})


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    unittest.main()
