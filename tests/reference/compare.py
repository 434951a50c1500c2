"""Tolerances: ours in f32 against a trajectory in float64."""
import numpy as np

EPS = 2.0**-23  # an ulp, relative to the lower end of its binade


def check_close(what, ours, exact, start, terms=0, ulps_of_update=4, ulps_of_value=2):
    """After one step: a few ulps of the update (or of `terms`, which cancel in it) and of the value, each element."""
    update = np.maximum(np.abs(exact - start), terms)
    bound = EPS * (ulps_of_update * update + ulps_of_value * np.abs(exact))
    worst = np.max(np.abs(ours - exact) / np.maximum(bound, 1e-45))
    assert worst <= 1, f"{what}: {worst:.3g} times the bound"


def relative_change(ours, exact, start, steps):
    """|ours - exact| / |exact - start| (Frobenius), without what rounding the sum to f32 at each step explains."""
    noise = EPS / 2 * np.linalg.norm(exact) * np.sqrt(steps)
    return max(0.0, np.linalg.norm(ours - exact) - noise) / np.linalg.norm(exact - start)


def check_change(what, ours, exact, start, terms=0, *, steps, tolerance):
    error = relative_change(ours, exact, start, steps)
    assert error <= tolerance, f"{what}: relative error of the change {error:.3g}, allowed {tolerance:g}"
