"""CUDA kernels on a GPU: AdamW and the clip norm beside a device copy of as many bytes and torch's optimizers.

    python3 tests/bench/gpu.py build/gpu.tar.xz [--rounds 21] [--only WORD] [--append tests/bench/RESULTS.md]

The archive is tests/gpu/pack.sh's: cubins, and the texts that say how they are launched. Needs torch with CUDA, numpy and
the driver; nothing of stepc. Every arm runs once a round, in an order drawn for each round, timed by events; the copy is
one of them. Times are the device's: it sleeps while the host enqueues an arm, whose own time stands beside them. TB/s are
the bytes that the update must read and write, each once. The kernels take tables as emit/cuda.h lays them out; AdamW's
results are compared with torch's, so that a launch that does nothing does not win.
"""
import argparse
import ctypes
import datetime
import pathlib
import random
import re
import statistics
import tarfile
import tempfile
import time

import numpy as np
import torch

F32, BF16 = torch.float32, torch.bfloat16
LR, BETA1, BETA2, EPS, DECAY = 1e-3, 0.9, 0.999, 1e-8, 1e-2
BIG, EXPERTS = [4096 * 4096] * 32, [2048 * 768] * 256 + [2048] * 400
BIG_NAME, EXPERTS_NAME = "32 x 4096x4096", "256 x 2048x768 and 400 x 2048"
# title, kernel, sizes, dtypes of parameter, gradient, states, peers
ADAMW = [
    (f"AdamW f32, {BIG_NAME}", "f32/adamw__p0__f32", BIG, (F32, F32, F32), ("fused", "foreach", "compiled")),
    (f"AdamW f32, {EXPERTS_NAME}", "f32/adamw__p0__f32", EXPERTS, (F32, F32, F32), ("fused", "foreach")),
    ("AdamW f32, 20000 x 1000", "f32/adamw__p0__f32", [1000] * 20000, (F32, F32, F32), ("fused", "foreach")),
    (f"AdamW bf16, {BIG_NAME}", "bf16/adamw__p0__bf16", BIG, (BF16, BF16, BF16), ("fused", "foreach", "compiled")),
    (f"AdamW bf16, {EXPERTS_NAME}", "bf16/adamw__p0__bf16", EXPERTS, (BF16, BF16, BF16), ("fused",)),
    (f"AdamW f32 with bf16 gradients, {BIG_NAME}", "mixed/adamw__p0__f32_bf16", BIG, (F32, BF16, F32), ()),
]
# Muon's kernels around the products: matrices alone.
MUON = [("Muon's momentum, f32, 256 x 2048x768", "muon/muon__p0__f32"),
        ("Muon's update of the parameter, f32, 256 x 2048x768", "muon/muon__p2__f32")]
NORM = [(f"norm of f32 gradients, {BIG_NAME}", "f32/gradients__squares__f32", BIG, F32)]


def check(code, what):
    if code != 0:
        raise SystemExit(f"{what}: CUDA error {code}")


class Kernel:
    """A cubin, and what its text says about its launch."""

    def __init__(self, folder, name):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        text = (folder / f"{name}.cu").read_text()
        shape = re.search(r"BLOCK = (\d+), LANES = (\d+), VECTORS = (\d+), TURNS = (\d+)", text)
        self.block, lanes, vectors, turns = map(int, shape.groups())
        self.tile = self.block * lanes * vectors * turns
        self.moved = sum(map(int, re.search(r"Reads (\d+) bytes per element.*?writes (\d+)", text, re.S).groups()))
        self.scalars = len(re.findall(r"^//   \d+  ", text, re.M))
        self.pointers = re.findall(r"\*(p_\w+);", re.search(r"struct row \{(.*?)\}", text, re.S).group(1))
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        image = (folder / f"{name}.cubin").read_bytes()
        check(self.cuda.cuModuleLoadData(ctypes.byref(module), image), name)
        check(self.cuda.cuModuleGetFunction(ctypes.byref(self.function), module, pathlib.Path(name).name.encode()), name)
        blocks = ctypes.c_int()
        check(self.cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(ctypes.byref(blocks), self.function, self.block,
                                                                    ctypes.c_size_t(0)), name)
        self.resident = blocks.value * torch.cuda.get_device_properties(0).multi_processor_count

    def launcher(self, blocks, arguments):
        keep = [ctypes.c_void_p(a.data_ptr()) if torch.is_tensor(a) else ctypes.c_uint(a) for a in arguments]
        array = (ctypes.c_void_p * len(keep))(*[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in keep])

        def run(keep=(keep, arguments)):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            check(self.cuda.cuLaunchKernel(self.function, blocks, 1, 1, self.block, 1, 1, 0, stream, array, None), "launch")

        return run


def rows(kernel, sizes, addresses):
    """The table: pointers, first, numel, first_tile, param, scalars, unused. Returns it and its number of tiles."""
    sizes = np.array(sizes, np.uint64)
    tiles = (sizes + kernel.tile - 1) // kernel.tile
    first_tile = np.concatenate([[0], np.cumsum(tiles)[:-1]])
    fields = [(n, "<u8") for n in [*kernel.pointers, "first", "numel"]]
    table = np.zeros(len(sizes), fields + [(n, "<u4") for n in ("first_tile", "param", "scalars", "unused")])
    for name in kernel.pointers:
        table[name] = addresses[name]
    table["numel"], table["first_tile"], table["param"] = sizes, first_tile, np.arange(len(sizes))
    return torch.from_numpy(table.view(np.uint8).reshape(-1)).cuda(), int(tiles.sum())


class Tensors:
    """Parameters, gradients and states of a model, each kind one block cut into tensors."""

    def __init__(self, sizes, dtypes):
        n = sum(sizes)
        self.sizes, self.n = sizes, n
        p, g, s = dtypes
        self.block = {"param": (torch.randn(n, device="cuda") * 0.02).to(p),
                      "grad": (torch.randn(n, device="cuda") * 1e-3).to(g),
                      "m": torch.zeros(n, dtype=s, device="cuda"), "v": torch.zeros(n, dtype=s, device="cuda")}
        self.at = np.concatenate([[0], np.cumsum(sizes)])
        self.bytes = n * (2 * p.itemsize + g.itemsize + 4 * s.itemsize)

    def cut(self, name):
        return [self.block[name][a:b] for a, b in zip(self.at, self.at[1:])]

    def addresses(self, name):
        x = self.block[name]
        return (x.data_ptr() + self.at[:-1] * x.element_size()).astype(np.uint64)


def update(kernel, t, scalars):
    """A map kernel over all tensors, one block per tile."""
    table, tiles = rows(kernel, t.sizes, {name: t.addresses(name[2:]) for name in kernel.pointers})
    grads = torch.from_numpy(t.addresses("grad").view(np.int64)).cuda()
    scalars = torch.tensor(scalars[-kernel.scalars:], dtype=F32, device="cuda")  # the first is a clip's place
    scalar_at = torch.zeros(len(t.sizes), dtype=torch.int32, device="cuda")
    verdict = torch.tensor([1, 0, 0, 0], dtype=F32, device="cuda")
    return kernel.launcher(tiles, [table, len(t.sizes), tiles, scalars, scalar_at, grads, verdict])


def adamw(kernel, t, step):
    c1, c2 = 1 - BETA1**step, 1 - BETA2**step
    return update(kernel, t, [1, BETA1, 1 - BETA1, BETA2, 1 - BETA2, c2**-0.5, EPS, 1 - LR * DECAY, LR / c1])


def torch_adamw(t, kind):
    params = [torch.nn.Parameter(x) for x in t.cut("param")]
    for p, g in zip(params, t.cut("grad")):
        p.grad = g
    how = {"fused": {"fused": True}, "foreach": {"foreach": True}, "compiled": {"foreach": True, "capturable": True}}[kind]
    optimizer = torch.optim.AdamW(params, lr=torch.tensor(LR) if kind == "compiled" else LR, betas=(BETA1, BETA2), eps=EPS,
                                  weight_decay=DECAY, **how)
    return torch.compile(optimizer.step) if kind == "compiled" else optimizer.step


def copy_of(size):
    a = torch.empty(size // 2, dtype=torch.uint8, device="cuda").random_()
    b = torch.empty_like(a)
    return lambda: b.copy_(a)


def time_arm(run, host):
    """Milliseconds on the device, and seconds that the host took to enqueue it (`host`: what it took before)."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(int(max(host * 1.5, 50e-6) * 2e9))
    start.record()
    begin = time.perf_counter()
    run()
    host = time.perf_counter() - begin
    end.record()
    end.synchronize()
    return start.elapsed_time(end), host


def measure(title, arms, rounds, out):
    """arms: name -> (bytes, function). Prints and keeps a Markdown table."""
    times, hosts = {name: [] for name in arms}, {}
    for name, (_, run) in arms.items():
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        hosts[name] = [time_arm(run, 0)[1]]
    for r in range(rounds):
        order = list(arms)
        random.Random(r).shuffle(order)
        for name in order:
            ms, host = time_arm(arms[name][1], statistics.median(hosts[name]))
            times[name].append(ms)
            hosts[name].append(host)
    rate = {name: arms[name][0] / statistics.median(t) * 1e-9 for name, t in times.items()}
    lines = [f"### {title}", "", "| arm | us, median | least - most | TB/s | of the copy | host, us |", "|---|---|---|---|---|---|"]
    for name in sorted(arms, key=lambda n: -rate[n]):
        t = times[name]
        lines.append(f"| {name} | {statistics.median(t) * 1e3:.1f} | {min(t) * 1e3:.1f} - {max(t) * 1e3:.1f} "
                     f"| {rate[name]:.3f} | {rate[name] / rate['device copy']:.3f} | {statistics.median(hosts[name]) * 1e6:.0f} |")
    print("\n".join(lines), "\n", flush=True)
    out += [*lines, ""]


def agrees(kernel, dtypes):
    """One step of the kernel beside torch's, on a few odd sizes."""
    t, u = (Tensors([1000, 4099, 3, 70000], dtypes) for _ in range(2))
    for name in t.block:
        u.block[name].copy_(t.block[name])
    adamw(kernel, t, 1)()
    torch_adamw(u, "foreach")()
    before = float((u.block["param"] - t.block["param"]).abs().max())
    limit = 1e-6 if dtypes[0] == F32 else 1e-3
    if not before < limit or float(t.block["v"].max()) == 0:
        raise SystemExit(f"the kernel differs from torch by {before}")


def bench_adamw(folder, args, out):
    for title, name, sizes, dtypes, peers in ADAMW:
        if args.only not in title:
            continue
        kernel = Kernel(folder, name)
        if dtypes[0] == dtypes[1]:
            agrees(kernel, dtypes)
        t = Tensors(sizes, dtypes)
        arms = {"device copy": (t.bytes, copy_of(t.bytes)), "stepc": (t.bytes, adamw(kernel, t, 10))}
        for peer in peers:
            arms[f"torch AdamW, {peer}"] = (t.bytes, torch_adamw(t, peer))
        measure(title, arms, args.rounds, out)
        del t, arms
        torch.cuda.empty_cache()


def bench_muon(folder, args, out):
    for title, name in MUON:
        if args.only not in title:
            continue
        kernel = Kernel(folder, name)
        t = Tensors([2048 * 768] * 256, (F32, F32, F32))
        t.block["o"] = torch.zeros(t.n, dtype=BF16, device="cuda")
        size = t.n * kernel.moved
        arms = {"device copy": (size, copy_of(size)), "stepc": (size, update(kernel, t, [0.5] * 9))}
        measure(title, arms, args.rounds, out)
        del t, arms
        torch.cuda.empty_cache()


def bench_norm(folder, args, out):
    for title, name, sizes, dtype in NORM:
        if args.only not in title:
            continue
        kernel = Kernel(folder, name)
        t = Tensors(sizes, (dtype, dtype, BF16))
        size = t.n * dtype.itemsize
        table, tiles = rows(kernel, sizes, {})
        grads = torch.from_numpy(t.addresses("grad").view(np.int64)).cuda()
        parts = torch.zeros(kernel.resident * 40, dtype=torch.uint8, device="cuda")
        squares = kernel.launcher(kernel.resident, [table, len(sizes), tiles, grads, parts])
        cut = t.cut("grad")
        arms = {"device copy": (size, copy_of(size)), "stepc": (size, squares),
                "torch get_total_norm": (size, lambda: torch.nn.utils.get_total_norm(cut, foreach=True))}
        measure(title, arms, args.rounds, out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("archive")
    p.add_argument("--rounds", type=int, default=21)
    p.add_argument("--only", default="")
    p.add_argument("--append")
    args = p.parse_args()
    torch.zeros(1, device="cuda")  # torch's context is the one that the driver's calls below use
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(args.archive) as archive:
            archive.extractall(work, filter="data")
        folder = pathlib.Path(work) / "bench"
        commit = (folder / "commit").read_text().strip()
        device = torch.cuda.get_device_properties(0)
        out = [f"## {datetime.date.today()}, commit {commit}, one {device.name} "
               f"({device.multi_processor_count} multiprocessors), torch {torch.__version__}", "",
               f"`python3 tests/bench/gpu.py build/gpu.tar.xz --rounds {args.rounds}`", ""]
        print("\n".join(out), flush=True)
        bench_adamw(folder, args, out)
        bench_muon(folder, args, out)
        bench_norm(folder, args, out)
    if args.append:
        with open(args.append, "a") as f:
            f.write("\n" + "\n".join(out))


if __name__ == "__main__":
    main()
