"""CPU optimizers side by side: ours, plain C loops, torch, DeepSpeed, optax, numpy.

    python tests/bench/cpu.py [--rounds 7] [--threads 1 2] [--model tests/models/gpt2-124m.json] [--only WORD]
                              [--peers PYTHON] [--append tests/bench/RESULTS.md]

Every worker is a process that holds its arrays and waits; a round runs each arm once, in turn, so that what the
machine does meanwhile meets all of them alike. Needs build/release/bench_cpu_arms (cmake --build build/release --target
bench_cpu_arms); the peers live in the environment of PYTHON (requirements.txt), those that are missing are named.
With --threads 1 everything is pinned to one core. GB/s are the bytes that the update must read and write.
"""
import argparse
import datetime
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from model import write_matrices

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TABLES = {  # title: (ratios are to the fastest arm whose name begins so, workers)
    "AdamW, f32, all tensors": ("C read 4 write 3", [
        ("specs/adamw.opt", "all"), ("torch_fused", "all"), ("torch_foreach", "all"), ("deepspeed", "all"),
        ("optax_adamw", "all"), ("numpy_adamw", "all")]),
    "Muon's momentum phase, f32 result, matrices": ("C momentum", [
        ("tests/bench/momentum.opt", "matrices"), ("torch_momentum", "matrices")]),
    "Muon's momentum phase, bf16 result, matrices": ("C momentum", [("specs/muon.opt", "matrices")]),
    "Muon, whole step, matrices": (None, [("specs/muon.opt", "matrices"), ("torch_muon", "matrices")]),
}


class Worker:
    def __init__(self, what, model, threads, peers, build):
        env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}  # it slows numpy's loops here
        env |= {"OMP_NUM_THREADS": str(threads), "THP_MEM_ALLOC_ENABLE": "1", "JAX_PLATFORMS": "cpu"}
        env["PATH"] = f"{pathlib.Path(peers).parent}{os.pathsep}{env['PATH']}"
        ours = what.endswith(".opt")
        command = [str(build / "bench_cpu_arms"), str(ROOT / what)] if ours else [peers, str(HERE / "peers.py"), what]
        pin = (lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])) if threads == 1 else None
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([*command, model, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env=env, preexec_fn=pin)
        self.what, self.arms = what, []
        for line in self.process.stdout:
            if not line.strip():
                return
            size, name = line.rstrip("\n").split(" ", 1)
            self.arms.append((int(size), name))
        self.log.seek(0)
        raise RuntimeError(f"{what}: {self.log.read().strip().splitlines()[-1:]}")

    def run(self, arm):
        self.process.stdin.write(f"{arm}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(workers, models, threads, options):
    out = []
    for what, model in workers:
        try:
            out.append(Worker(what, models[model], threads, options.peers, options.build))
        except RuntimeError as e:
            print(f"left out: {e}", file=sys.stderr)
    return out


def measure(title, workers, rounds):
    """Seconds of each arm over the rounds, after two that do not count: {name: (bytes, seconds)}."""
    whole = "whole step" in title
    arms = [(w, i, size, name) for w in workers for i, (size, name) in enumerate(w.arms) if (size == 0) == whole]
    seconds = {name: (size, []) for _, _, size, name in arms}
    for r in range(rounds + 2):
        for w, i, _, name in arms:
            took = w.run(i)
            if r >= 2:
                seconds[name][1].append(took)
        print(f"{title}: round {r - 1 if r >= 2 else 'warm-up'}", file=sys.stderr)
    return seconds


def table(title, bar, seconds, threads):
    lines = [f"### {title}, {threads} thread{'s' if threads > 1 else ''}", ""]
    if bar is None:
        lines += ["| arm | s, median | least - most |", "|---|---|---|"]
        rows = [(statistics.median(s), name, s) for name, (_, s) in seconds.items()]
        lines += [f"| {name} | {m:.2f} | {min(s):.2f} - {max(s):.2f} |" for m, name, s in sorted(rows)]
        return lines + [""]
    rates = {name: sorted(size / x * 1e-9 for x in s) for name, (size, s) in seconds.items()}
    limit = max((statistics.median(r) for name, r in rates.items() if name.startswith(bar)), default=float("nan"))
    lines += [f"| arm | GB/s, median | least - most | of the best `{bar}` |", "|---|---|---|---|"]
    for name, r in sorted(rates.items(), key=lambda x: -statistics.median(x[1])):
        m = statistics.median(r)
        lines.append(f"| {name} | {m:.1f} | {r[0]:.1f} - {r[-1]:.1f} | {m / limit:.2f} |")
    return lines + [""]


def cpu_name():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    return f"{names[0]} x {len(names)}"


def heading(options):
    git = lambda *a: subprocess.run(["git", *a], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    commit = git("rev-parse", "--short", "HEAD") + (" and changes" if git("status", "--porcelain", "-uno") else "")
    return [f"## {datetime.date.today()}, commit {commit}, {cpu_name()}", "",
            f"`python tests/bench/cpu.py --rounds {options.rounds} --threads {' '.join(map(str, options.threads))} "
            f"--model {os.path.relpath(options.model, ROOT)}`, load before: {os.getloadavg()[0]:.1f}", ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--model", default=str(ROOT / "tests/models/gpt2-124m.json"))
    parser.add_argument("--only", default="", help="tables whose title has this word")
    parser.add_argument("--peers", default=sys.executable, help="the python of the peers' environment")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--append", help="file that the tables are appended to")
    options = parser.parse_args()
    lines = heading(options)
    with tempfile.TemporaryDirectory() as folder:
        models = {"all": options.model, "matrices": os.path.join(folder, "matrices.json")}
        write_matrices(options.model, models["matrices"])
        for title, (bar, workers) in TABLES.items():
            for threads in options.threads if options.only in title else []:
                running = start(workers, models, threads, options)
                rounds = options.rounds if bar else min(options.rounds, 3)
                lines += table(title, bar, measure(title, running, rounds), threads)
                for w in running:
                    w.close()
    print("\n".join(lines))
    if options.append:
        with open(options.append, "a") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
