"""Steps whose states rest in host memory, on a GPU: stepc bench, and what torch makes of the same bytes and products.

    python3 tests/bench/gpu_offload.py build/gpu.tar.xz [--spec specs/gpt.opt] [--rounds 7] [--append tests/bench/RESULTS.md]
                                       [--model tests/models/qwen3-30b-a3b-rank.json] [--flags "--offload host"]

The archive is tests/gpu/pack.sh's, with stepc in it, which needs the driver, NVRTC and, for products, cuBLASLt: those of
torch's wheels are found too. First stepc bench runs alone, then torch in this process, where it is installed: AdamW's
states brought up, updated by the fused optimizer and brought down again, one after another and through three streams;
the bytes alone; and Newton-Schulz by baddbmm over the model's matrices. Arms of torch run in turn, two rounds not
counted, timed by the wall clock from an idle GPU to an idle GPU. Every number is a median with its range.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

GIB, MIB = 1 << 30, 1 << 20
# polar_express of specs/iterations.opt, which gpt.opt takes.
COEFFICIENTS = [(8.156554524902461, -22.48329292557795, 15.878769915207462),
                (4.042929935166739, -2.808917465908714, 0.5000178451051316),
                (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
                (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
                (2.3465413258596377, -1.7097828382687081, 0.42323551169305323)]
BATCH = 96  # matrices of a sub-batch at most


# ---- stepc


def library_path(work):
    """Where stepc looks for NVRTC and cuBLASLt: what is set, then the wheels beside torch."""
    folders = [str(work / "lib"), *filter(None, os.environ.get("STEPC_LIBRARY_PATH", "").split(":"))]
    for site in map(pathlib.Path, sys.path):
        folders += [str(p) for p in sorted(site.glob("nvidia/*/lib")) if any(p.glob("libnvrtc*")) or any(p.glob("libcublasLt*"))]
    return ":".join(folders)


def run_stepc(work, args):
    env = dict(os.environ, STEPC_LIBRARY_PATH=library_path(work))
    env["LD_LIBRARY_PATH"] = ":".join(filter(None, [str(work / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]))
    command = ["./stepc", "bench", args.spec, "--model", args.model, "--target", "cuda", "--rounds", str(args.rounds),
               "--json", *args.flags.split()]
    print("$", " ".join(command), flush=True)
    result = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True)
    print(result.stderr, end="", flush=True)
    if not result.stdout.startswith("{"):
        raise SystemExit(f"stepc bench: exit {result.returncode}")
    return json.loads(result.stdout)


# ---- torch


def in_turn(torch, arms, rounds):
    """Seconds of each arm over the rounds, after two that do not count."""
    seconds = {name: [] for name in arms}
    for r in range(rounds + 2):
        for name, run in arms.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            run()
            torch.cuda.synchronize()
            if r >= 2:
                seconds[name].append(time.perf_counter() - start)
    return seconds


class Offloaded:
    """AdamW over `n` elements in pieces, its two states in pinned memory."""

    def __init__(self, torch, n, piece):
        self.torch, self.step = torch, torch.ones((), device="cuda")
        sizes = [piece] * (n // piece) + ([n % piece] if n % piece else [])
        new = lambda size, **kw: torch.full((size,), 1e-3, **kw)
        self.host = [[new(s).pin_memory() for _ in "mv"] for s in sizes]
        self.param = [new(s, device="cuda") for s in sizes]
        self.grad = [new(s, device="cuda") for s in sizes]
        self.streams = [torch.cuda.Stream() for _ in range(3)]
        self.bytes = 8 * n

    def update(self, pieces, states):
        """torch.optim.AdamW's fused step, on states that the caller brought."""
        params, grads = [self.param[i] for i in pieces], [self.grad[i] for i in pieces]
        m, v = [s[0] for s in states], [s[1] for s in states]
        self.torch._fused_adamw_(params, grads, m, v, [], [self.step] * len(m), lr=1e-3, beta1=0.9, beta2=0.999,
                                 weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False)

    def serial(self):
        states = [[x.to("cuda", non_blocking=True) for x in piece] for piece in self.host]
        self.update(range(len(states)), states)
        for piece, here in zip(self.host, states):
            for x, y in zip(piece, here):
                x.copy_(y, non_blocking=True)

    def streamed(self, slots=4):
        """Load, update and store on a stream each; a piece's slot is free again when it is stored."""
        torch = self.torch
        load, compute, store = self.streams
        if not hasattr(self, "slot"):
            self.slot = [[torch.empty_like(self.param[0]) for _ in "mv"] for _ in range(slots)]
        free = [None] * slots
        for i, piece in enumerate(self.host):
            here = [s[: piece[0].numel()] for s in self.slot[i % slots]]
            with torch.cuda.stream(load):
                if free[i % slots]:
                    load.wait_event(free[i % slots])
                for x, y in zip(piece, here):
                    y.copy_(x, non_blocking=True)
            compute.wait_stream(load)
            with torch.cuda.stream(compute):
                self.update([i], [here])
            store.wait_stream(compute)
            with torch.cuda.stream(store):
                for x, y in zip(piece, here):
                    x.copy_(y, non_blocking=True)
                free[i % slots] = store.record_event()


def link(torch, size, piece=64 * MIB, room=GIB):
    """The bytes each way at once and nothing else."""
    up, down = (torch.empty(room, dtype=torch.uint8).pin_memory() for _ in range(2))
    here, there = (torch.empty(room, dtype=torch.uint8, device="cuda") for _ in range(2))
    streams = [torch.cuda.Stream() for _ in range(2)]

    def run():
        for at in range(0, size, piece):
            n, a = min(piece, size - at), at % room
            with torch.cuda.stream(streams[0]):
                here[a : a + n].copy_(up[a : a + n], non_blocking=True)
            with torch.cuda.stream(streams[1]):
                down[a : a + n].copy_(there[a : a + n], non_blocking=True)

    return run


def matrix_shapes(path):
    """(m, k) with m <= k -> how many; of everything that gpt.opt gives to Muon."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    from model import tensors

    model = json.load(open(path))
    model["params"] = [p for p in model["params"] if "embed" not in p["name"] and "lm_head" not in p["name"]]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(model, f)
        f.flush()
        shapes = collections.Counter()
        for s in tensors(f.name):
            if len(s) >= 2:
                n = 1
                for d in s[:-2]:
                    n *= d
                shapes[(min(s[-2:]), max(s[-2:]))] += n
    return shapes


def newton_schulz(torch, shapes):
    """X := a X + (b A + c A A) X with A = X X^T, batched, in bf16."""
    operand = {s: torch.randn(min(n, BATCH), *s, device="cuda", dtype=torch.bfloat16) for s, n in shapes.items()}

    def orthogonalize(x):
        x = x / (torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True) * 1.02 + 1e-6)
        for a, b, c in COEFFICIENTS:
            square = torch.bmm(x, x.mT)
            square = torch.baddbmm(square, square, square, beta=b, alpha=c)
            x = torch.baddbmm(x, square, x, beta=a)
        return x

    def run():
        for shape, n in shapes.items():
            for at in range(0, n, BATCH):
                orthogonalize(operand[shape][: min(BATCH, n - at)])

    return run


def products(shapes):
    """Multiply-adds, twice: of each of the five steps 2 m m k for X X^T and B X, 2 m m m for A A."""
    return sum(n * len(COEFFICIENTS) * (4 * m * m * k + 2 * m**3) for (m, k), n in shapes.items())


def run_torch(args, size):
    try:
        import torch
    except ImportError:
        print("torch is not installed: its arms are left out", flush=True)
        return None, {}, {}
    o = Offloaded(torch, size // 8, 32 * MIB)
    arms = {"torch AdamW of as many bytes, serial": o.serial, "torch AdamW of as many bytes, three streams": o.streamed,
            "torch copies, both ways at once": link(torch, size)}
    streamed = in_turn(torch, arms, args.rounds)
    del o, arms
    torch.cuda.empty_cache()
    shapes = matrix_shapes(args.model_path)
    schulz = in_turn(torch, {"torch baddbmm Newton-Schulz": newton_schulz(torch, shapes)}, args.rounds) if shapes else {}
    return torch, streamed, schulz


# ---- tables


def row(name, seconds, columns):
    s = sorted(seconds)
    return f"| {name} | {statistics.median(s) * 1e3:.1f} | {s[0] * 1e3:.1f} - {s[-1] * 1e3:.1f} | " + " | ".join(columns) + " |"


def streaming_table(b, streamed):
    arm = {a["name"]: a for a in b["arms"] if a["ran"]}
    size = arm["chunked"]["bytes_up"] + arm["chunked"]["bytes_down"]
    floor = statistics.median(b["floor_seconds"])
    lines = [f"### {b['job']} on {b['model']}: {arm['chunked']['bytes_up'] / GIB:.2f} GiB of states up and down", "",
             "| arm | ms, median | least - most | GiB/s, both ways | of the floor | device ms | host ms |",
             "|---|---|---|---|---|---|---|"]
    rate = lambda s: [f"{size / statistics.median(s) / GIB:.1f}", f"{statistics.median(s) / floor:.3f}"]
    for name, a in arm.items():
        s = a["step_seconds"]
        lines.append(row(f"stepc, {name}", s, (rate(s) if a["bytes_up"] else ["", ""]) + [
            f"{a['device_seconds'] * 1e3:.1f}", f"{statistics.median(a['host_seconds']) * 1e3:.2f}"]))
    lines.append(row("floor", b["floor_seconds"], rate(b["floor_seconds"]) + ["", ""]))
    lines += [row(name, s, rate(s) + ["", ""]) for name, s in streamed.items()]
    c = arm["chunked"]
    speed = f", {statistics.median(arm['serial']['step_seconds']) / statistics.median(c['step_seconds']):.2f} times as fast as serial" if "serial" in arm else ""
    events = {name: a["events"] for name, a in arm.items() if a["events"]}
    return lines + ["", f"Chunked: {c['chunks']} chunks, {c['slots']} slots, {c['staging_bytes'] / GIB:.2f} GiB of staging{speed}. "
                    f"Slab of {c['host_bytes'] / GIB:.2f} GiB ready in {c['slab_seconds']:.2f} s, open {c['open_seconds']:.2f} s, bind "
                    f"{c['bind_seconds']:.2f} s; {b['kernels']} kernels in {b['compile_seconds']:.2f} s, {b['kernels_cached']} of them cached. "
                    f"{'Same' if b['same_digests'] else 'DIFFERENT'} digests of all arms; "
                    f"{'no event inside steps' if not events else f'events inside steps: {events}'}.", ""]


def products_table(b, schulz, shapes):
    resident = next((a for a in b["arms"] if a["ran"] and a["name"] == "resident"), None)
    ours = resident["operation_seconds"].get("ortho") if resident else None
    flops = products(shapes)
    lines = ["### Newton-Schulz, five steps in bf16: " + ", ".join(f"{n} x {m}x{k}" for (m, k), n in sorted(shapes.items())), "",
             "| arm | ms, median | least - most | TFLOP/s |", "|---|---|---|---|"]
    if ours:
        lines.append(row("stepc, orthogonalize of one traced step", [ours], [f"{flops / ours * 1e-12:.0f}"]))
    lines += [row(name, s, [f"{flops / statistics.median(s) * 1e-12:.0f}"]) for name, s in schulz.items()]
    return [*lines, ""]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("archive")
    p.add_argument("--spec", default="specs/gpt.opt", help="a path in the archive")
    p.add_argument("--model", default="tests/models/qwen3-30b-a3b-rank.json", help="a path in the archive")
    p.add_argument("--flags", default="--offload host", help="options of the chunked arm")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--append", help="file that the tables are appended to")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(args.archive) as archive:
            archive.extractall(folder, filter="data")
        work = pathlib.Path(folder)
        args.model_path = work / args.model
        commit = (work / "bench/commit").read_text().strip()
        b = run_stepc(work, args)
        size = next(a["bytes_up"] for a in b["arms"] if a["name"] == "chunked")
        torch, streamed, schulz = run_torch(args, size)
        shapes = matrix_shapes(args.model_path)
    out = [f"## {datetime.date.today()}, commit {commit}, one {b['device']}" + (f", torch {torch.__version__}" if torch else ""),
           "", f"`python3 tests/bench/gpu_offload.py build/gpu.tar.xz --spec {args.spec} --model {args.model} --flags "
           f"\"{args.flags}\" --rounds {args.rounds}`", "", *streaming_table(b, streamed)]
    if shapes:
        out += products_table(b, schulz, shapes)
    print("\n".join(out))
    if args.append:
        with open(args.append, "a") as f:
            f.write("\n" + "\n".join(out))
    return 0 if b["same_digests"] else 1


if __name__ == "__main__":
    sys.exit(main())
