"""Optimizers in float64, written from their papers and reference implementations; nothing here rounds to f32.

Each is a class with `step(p, g)`, which returns the new parameter and keeps its own state in `state`.
"""
import numpy as np

from tensors import round_bf16


class Sgd:
    """torch.optim.SGD: the first use of the buffer is a plain copy of the gradient, dampening not applied."""

    def __init__(self, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
        self.lr, self.mu, self.tau, self.wd, self.nesterov = lr, momentum, dampening, weight_decay, nesterov
        self.state = {}

    def step(self, p, g):
        self.terms = np.abs(g) + np.abs(self.wd * p)  # may cancel: errors are of their size
        g = g + self.wd * p
        if self.mu != 0:
            first = "buf" not in self.state
            buf = g if first else self.mu * self.state["buf"] + (1 - self.tau) * g
            self.state["buf"] = buf
            g = g + self.mu * buf if self.nesterov else buf
        return p - self.lr * g


class AdamW:
    """torch.optim.AdamW; amsgrad keeps the maximum of the uncorrected second moment (Reddi et al. 2018)."""

    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=1e-2, amsgrad=False):
        self.lr, self.b1, self.b2, self.eps = lr, beta1, beta2, eps
        self.wd, self.amsgrad, self.t, self.state = weight_decay, amsgrad, 0, {}

    def step(self, p, g):
        s, self.t = self.state, self.t + 1
        p = p * (1 - self.lr * self.wd)
        s["m"] = self.b1 * s.get("m", 0) + (1 - self.b1) * g
        s["v"] = self.b2 * s.get("v", 0) + (1 - self.b2) * g * g
        v = s["v"]
        if self.amsgrad:
            v = s["vmax"] = np.maximum(s.get("vmax", 0), v)
        denominator = np.sqrt(v) / np.sqrt(1 - self.b2**self.t) + self.eps
        return p - self.lr / (1 - self.b1**self.t) * s["m"] / denominator


class Lion:
    """Chen et al. 2023, arXiv 2302.06675, algorithm 2."""

    def __init__(self, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
        self.lr, self.b1, self.b2, self.wd = lr, beta1, beta2, weight_decay
        self.state = {}
        self.doubtful = False  # elements whose sign has once hung on a rounding

    def step(self, p, g):
        m = self.state.get("m", np.zeros_like(p))
        a, b = self.b1 * m, (1 - self.b1) * g
        self.doubtful = self.doubtful | (np.abs(a + b) <= 1e-6 * (np.abs(a) + np.abs(b)))
        p = p * (1 - self.lr * self.wd) - self.lr * np.sign(a + b)
        self.state["m"] = self.b2 * m + (1 - self.b2) * g
        return p


CLASSIC = [(3.4445, -4.7750, 2.0315)] * 5  # Keller Jordan, Muon
POLAR_EXPRESS = [  # arXiv 2505.16932 as modded-nanogpt and dion list it, safety 1.02
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
]
QUINTIC = [  # You Jiacheng; NVIDIA Emerging-Optimizers
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
]
ITERATIONS = {  # by form, or by the name of the iteration
    "keller": {"eps": 1e-7},
    "moonlight": {"eps": 1e-7},
    "torch": {"floor": 1e-7},
    "polar_express": {"steps": POLAR_EXPRESS, "safety": 1.02, "eps": 1e-6},
    "quintic": {"steps": QUINTIC, "floor": 1e-15, "in_f32": True},
    "cubic": {"steps": [(1.5, -0.5, 0.0)] * 5, "eps": 1e-7},
    "aol": {"steps": [(4.6051, -9.6552, 5.6769), (4.7505, -6.0861, 2.1790), (2.7763, -2.3190, 0.5523),
                      (2.4231, -2.2861, 0.8193)], "floor": 1e-7, "aol": True},
}


def transposed(x):
    return np.swapaxes(x, -1, -2)


def orthogonalize(x, steps=CLASSIC, safety=1.0, eps=0.0, floor=0.0, in_f32=False, aol=False, bf16=False):
    """X <- a X + (b A + c A A) X with A = X X^T; `bf16`: the plain algorithm, every operation rounded."""
    r = round_bf16 if bf16 else (lambda y: y)
    tall = x.shape[-2] > x.shape[-1]
    x = transposed(x) if tall else x
    x = x if in_f32 else r(x)
    if aol:  # row i over the root of sum_j |(X X^T)_ij|
        sums = r(np.maximum(np.abs(r(x @ transposed(x))).sum(-1, keepdims=True), floor))
        x = r(x * r(1 / np.sqrt(sums)))
    else:
        norm = np.sqrt((x * x).sum((-1, -2), keepdims=True))
        by = np.maximum(safety * (norm if in_f32 else r(norm)), floor) + eps
        x = r(np.divide(x, by if in_f32 else r(by), out=np.zeros_like(x), where=norm != 0))
    for a, b, c in steps:
        g = r(x @ transposed(x))
        x = r(r(a * x) + r(r(r(b * g) + r(r(c * g) @ g)) @ x))
    return transposed(x) if tall else x


class Muon:
    """`form`: keller (Keller Jordan's Muon), torch (torch.optim.Muon) or moonlight (MoonshotAI/Moonlight)."""

    def __init__(self, form="keller", lr=0.02, momentum=0.95, weight_decay=0.0, nesterov=True, factor="aspect",
                 **iteration):
        self.lr, self.mu, self.wd, self.nesterov = lr, momentum, weight_decay, nesterov
        self.heavy_ball, self.rms = form == "moonlight", factor == "rms"
        self.iteration, self.bf16, self.state = iteration, False, {}

    def direction(self, g):
        m, mu = self.state.get("m", np.zeros_like(g)), self.mu
        if self.heavy_ball:
            m = self.state["m"] = mu * m + g
            u = g + mu * m if self.nesterov else m
        else:
            m = self.state["m"] = mu * m + (1 - mu) * g
            u = mu * m + (1 - mu) * g if self.nesterov else m
        return orthogonalize(u, bf16=self.bf16, **self.iteration)

    def factor(self, rows, cols):
        return 0.2 * np.sqrt(max(rows, cols)) if self.rms else np.sqrt(max(1.0, rows / cols))

    def step(self, p, g):
        o = self.direction(g)
        return p * (1 - self.lr * self.wd) - self.lr * self.factor(*p.shape[-2:]) * o


def clip_factor(grads, limit):
    """torch.nn.utils.clip_grad_norm_: the global norm and what every gradient is multiplied with."""
    norm = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in grads.values()))
    return norm, min(1.0, limit / (norm + 1e-6))
