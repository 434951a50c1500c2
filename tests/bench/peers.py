"""A worker of cpu.py: one peer's optimizer on the model's tensors, run once for every line it is sent.

    peers.py PEER MODEL THREADS

Speaks as cpu_arms.c does: the bytes of a run and a name for each arm, an empty line, then seconds.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from model import tensors  # noqa: E402

BETA1, BETA2, EPS, LR, DECAY = 0.9, 0.999, 1e-8, 1e-3, 1e-2


def torch_tensors(shapes, threads):
    import torch

    torch.set_num_threads(threads)
    ramp = lambda s, size: (torch.arange(s.numel(), dtype=torch.float32) % 977 + 1).reshape(s) * size
    sizes = [torch.Size(s) for s in shapes]
    p = [torch.nn.Parameter(ramp(s, 1e-5)) for s in sizes]
    for x in p:
        x.grad = ramp(x.shape, 1e-6)
    return torch, p


def torch_adamw(shapes, threads, **kind):
    torch, p = torch_tensors(shapes, threads)
    return torch.optim.AdamW(p, lr=LR, betas=(BETA1, BETA2), eps=EPS, weight_decay=DECAY, **kind).step


def torch_fused(shapes, threads):
    return {"torch AdamW, fused": (28, torch_adamw(shapes, threads, fused=True))}


def torch_foreach(shapes, threads):
    return {"torch AdamW, foreach": (28, torch_adamw(shapes, threads, foreach=True))}


def deepspeed(shapes, threads):
    torch, p = torch_tensors(shapes, threads)
    from deepspeed.ops.adam import DeepSpeedCPUAdam

    optimizer = DeepSpeedCPUAdam(p, lr=LR, betas=(BETA1, BETA2), eps=EPS, weight_decay=DECAY, adamw_mode=True)
    return {"DeepSpeed CPUAdam": (28, optimizer.step)}


def torch_momentum(shapes, threads):
    """Muon's first phase as torch's foreach functions do it: m := lerp(m, g), u = lerp(g, m)."""
    torch, p = torch_tensors(shapes, threads)
    g = [x.grad for x in p]
    m = [torch.zeros_like(x) for x in g]
    u = [torch.empty_like(x) for x in g]

    def step():
        torch._foreach_lerp_(m, g, 0.05)
        torch._foreach_copy_(u, g)
        torch._foreach_lerp_(u, m, 0.95)

    return {"torch momentum, foreach": (16, step)}


def torch_muon(shapes, threads):
    torch, p = torch_tensors(shapes, threads)
    return {"torch Muon, whole step": (0, torch.optim.Muon(p, lr=0.02, momentum=0.95, weight_decay=0.0).step)}


def optax_adamw(shapes, _threads):
    import jax
    import jax.numpy as jnp
    import optax

    optimizer = optax.adamw(LR, b1=BETA1, b2=BETA2, eps=EPS, weight_decay=DECAY)
    p = [jnp.full(s, 1e-3, jnp.float32) for s in shapes]
    g = [jnp.full(s, 1e-5, jnp.float32) for s in shapes]
    data = [p, optimizer.init(p)]

    def update(p, state, g):
        updates, state = optimizer.update(g, state, p)
        return optax.apply_updates(p, updates), state

    update = jax.jit(update, donate_argnums=(0, 1))

    def step():
        data[:] = jax.block_until_ready(update(*data, g))

    return {"optax AdamW, jitted, donated": (28, step)}


def numpy_adamw(shapes, _threads):
    import numpy as np

    p, g, m, v = ([np.full(s, x, np.float32) for s in shapes] for x in (1e-3, 1e-5, 0, 0))
    a, b = (np.empty(max(x.size for x in p), np.float32) for _ in range(2))
    count = [0]

    def step():
        count[0] += 1
        root, rate = (1 - BETA2 ** count[0]) ** 0.5, LR / (1 - BETA1 ** count[0])
        for p_, g_, m_, v_ in zip(p, g, m, v):
            x, y = a[: p_.size].reshape(p_.shape), b[: p_.size].reshape(p_.shape)
            p_ *= np.float32(1 - LR * DECAY)
            m_ += np.multiply(np.subtract(g_, m_, out=x), np.float32(1 - BETA1), out=x)
            v_ *= np.float32(BETA2)
            v_ += np.multiply(np.multiply(g_, g_, out=x), np.float32(1 - BETA2), out=x)
            np.divide(np.sqrt(v_, out=x), np.float32(root), out=x)
            x += np.float32(EPS)
            p_ -= np.multiply(np.divide(m_, x, out=y), np.float32(rate), out=y)

    return {"numpy AdamW (one core)": (28, step)}


PEERS = {f.__name__: f for f in (torch_fused, torch_foreach, deepspeed, torch_momentum, torch_muon, optax_adamw,
                                 numpy_adamw)}


def main():
    peer, model, threads = sys.argv[1:]
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not look like an answer
    shapes = tensors(model)
    total = sum(n for n in map(size_of, shapes))
    arms = PEERS[peer](shapes, int(threads))
    say = lambda text: os.write(answers, (text + "\n").encode())
    for name, (bytes_each, _) in arms.items():
        say(f"{bytes_each * total} {name}")
    say("")
    steps = [step for _, step in arms.values()]
    for line in sys.stdin:
        start = time.perf_counter()
        steps[int(line)]()
        say(f"{time.perf_counter() - start:.9f}")


def size_of(shape):
    n = 1
    for d in shape:
        n *= d
    return n


if __name__ == "__main__":
    main()
