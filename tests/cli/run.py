#!/usr/bin/env python3
"""Runs command-line sessions and compares what they print: tests/cli/*.cli.

A session is prose with indented commands, in the manner of cram: two spaces and `$ ` start a command, `> ` continues
it; the indented lines after it are its standard output, those after `2> ` its standard error, `[N]` its exit code
when it is not 0. `...` stands for any number of lines, and a line that ends in ` (glob)` is a pattern of * and ?.
Commands run under bash, one after another, in one new empty folder, with stepc in PATH and ROOT, SPECS, MODELS, DATA
naming the repository and parts of it. `--update` rewrites the sessions from what happened.
"""
import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Step:
    def __init__(self, line, command):
        self.line, self.command = line, command
        self.out, self.err, self.code = [], [], 0


def parse(text):
    """The session as a list of prose lines and steps, in order."""
    items = []
    for number, line in enumerate(text.splitlines(), 1):
        body = line[2:]
        step = items[-1] if items and isinstance(items[-1], Step) else None
        if not line.startswith("  "):
            items.append(line)
        elif body.startswith("$ "):
            items.append(Step(number, body[2:]))
        elif step is None:
            sys.exit(f"line {number}: output without a command")
        elif body.startswith("> "):
            step.command += "\n" + body[2:]
        elif body.startswith("2> ") or body == "2>":
            step.err.append(body[3:])
        elif body.startswith("[") and body.endswith("]") and body[1:-1].isdigit():
            step.code = int(body[1:-1])
        else:
            step.out.append(body)
    return items


def matches(want, got):
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    if not got:
        return False
    if want[0].endswith(" (glob)"):
        same = fnmatch.fnmatchcase(got[0], want[0][: -len(" (glob)")])
    else:
        same = want[0] == got[0]
    return same and matches(want[1:], got[1:])


def render(command, out, err, code):
    first, *rest = command.split("\n")
    lines = ["$ " + first] + ["> " + r for r in rest] + out + ["2> " + e for e in err]
    return "\n".join("  " + x.rstrip() for x in lines + ([f"[{code}]"] if code else []))


def shown(output, folder):
    """What was printed, without what differs from machine to machine."""
    text = output.decode(errors="backslashreplace").replace(folder, "$PWD").replace(str(ROOT), "$ROOT")
    return [line.rstrip() for line in text.splitlines()]


def run_session(path, build, update):
    items, failures, written = parse(path.read_text()), 0, []
    env = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", ROOT=str(ROOT), SPECS=str(ROOT / "specs"),
               MODELS=str(ROOT / "tests/models"), DATA=str(ROOT / "tests/data"), LC_ALL="C.UTF-8")
    env.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory(prefix="stepc-cli-") as folder:
        env["XDG_CACHE_HOME"] = f"{folder}/.cache"
        for item in items:
            if not isinstance(item, Step):
                written.append(item)
                continue
            done = subprocess.run(["bash", "-c", item.command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=120)
            out, err = (shown(x, folder) for x in (done.stdout, done.stderr))
            if matches(item.out, out) and matches(item.err, err) and item.code == done.returncode:
                written.append(render(item.command, item.out, item.err, item.code))
                continue
            failures += 1
            written.append(render(item.command, out, err, done.returncode))
            if not update:
                print(f"{path.name}:{item.line}: expected\n{render(item.command, item.out, item.err, item.code)}\n"
                      f"got\n{written[-1]}\n")
    if update and failures:
        path.write_text("\n".join(written) + "\n")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("session", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    if args.update and os.environ.get("CI"):
        sys.exit("--update is refused where CI is set")
    failures = sum(run_session(s, args.build.resolve(), args.update) for s in args.session)
    sys.exit(1 if failures and not args.update else 0)


if __name__ == "__main__":
    main()
