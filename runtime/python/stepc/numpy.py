"""Optimizers on numpy arrays, on the CPU.

    opt = stepc.numpy.Optimizer({"w": w, "b": b}, spec="specs/adamw.opt", sets={"lr": 1e-3})
    opt.step({"w": dw, "b": db})          # w and b are updated in place
    opt.hypers["lr"] = 1e-4

Arrays are float32, float16 or bfloat16 (of ml_dtypes; or their bits as uint16), C-contiguous, aligned, and are
neither copied nor converted: what does not fit is refused, by name. An Optimizer keeps its arrays alive and belongs to
one thread at a time.
"""

import collections.abc
import ctypes
import typing
import warnings
import weakref

import numpy

from . import Error, Param, Program, Unique, _c

_DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "uint16": "bf16"}
_NAMES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16 (or its bits as uint16)"}


class Report(typing.NamedTuple):
    """What the last step did."""

    skipped: bool
    grad_norm: float  # where the recipe clips; else 0
    clip_factor: float
    bytes_moved: int
    seconds: float


def _check_array(what, a):
    if not isinstance(a, numpy.ndarray):
        raise TypeError(f"{what} is a numpy array, not {type(a).__name__}")
    if a.dtype.name not in _DTYPES or not a.dtype.isnative:
        raise TypeError(f"{what} has dtype {a.dtype}; float32, float16, bfloat16 and uint16 (bits of bfloat16) are taken")
    if not a.flags.c_contiguous:
        raise ValueError(f"{what} is not C-contiguous: it would be copied, and the copy updated")
    if not a.flags.aligned:
        raise ValueError(f"{what} is not aligned to its elements")


def _check_param(name, a, frozen):
    _check_array(f"parameter {name!r}", a)
    if not a.flags.writeable and not frozen:
        raise ValueError(f"parameter {name!r} is read-only")


def _check_overlap(params):
    """Two parameters in one place would be updated twice."""
    spans = sorted((a.ctypes.data, a.ctypes.data + a.nbytes, name) for name, a in params.items() if a.nbytes)
    for (_, end, first), (begin, _, second) in zip(spans, spans[1:]):
        if begin < end:
            raise ValueError(f"parameters {first!r} and {second!r} share memory")


def _close(handle, *needed):
    """`needed` is what the handle points to: it goes after it."""
    _c.steprt.steprt_destroy(handle)


def _logger(notes):
    """The runtime's log as notes and warnings. It knows no Optimizer, which it would keep alive."""
    def log(_, level, line):
        text = line.decode(errors="replace")
        warnings.warn(text, stacklevel=2) if level > 0 else notes.append(text)

    return _c.LOG(log)


class Hypers(collections.abc.MutableMapping):
    """By "label.name" or, where only one has it, by name; torch's names are taken too. A hyper changes at any step."""

    def __init__(self, optimizer):
        self._optimizer = optimizer  # keeps it alive
        self._all = optimizer.program.hypers

    @staticmethod
    def _key(h):
        return f"{h.label}.{h.name}" if h.label else h.name

    def _index(self, key):
        found = [i for i, h in enumerate(self._all) if key == self._key(h)]
        found = found or [i for i, h in enumerate(self._all)
                          if key in (h.name, h.alias, f"{h.label}.{h.alias}") and key != ""]
        if len(found) != 1:
            near = ", ".join(self._key(self._all[i]) for i in found) or ", ".join(self)
            raise KeyError(f"{key!r} is {'several hypers' if found else 'no hyper'}: {near}")
        return found[0]

    def __getitem__(self, key):
        return _c.steprt.steprt_get_hyper(self._optimizer._handle, self._index(key))

    def __setitem__(self, key, value):
        handle = self._optimizer._handle
        self._optimizer._check(_c.steprt.steprt_set_hyper(handle, self._index(key), float(value)))

    def __delitem__(self, key):
        raise TypeError("hypers are set, not deleted")

    def __iter__(self):
        return map(self._key, self._all)

    def __len__(self):
        return len(self._all)


class Optimizer(Unique):
    """`params` maps names to arrays, which it updates; the names are what a recipe's conditions see. `grad_dtype` is
    "f32", "bf16" or "f16" where gradients differ from their parameters; `frozen` names parameters that stay.
    `threads` 0: every core. The other arguments are those of stepc.Program. `notes` tells what was replaced by
    something else; warnings of the compiler and the runtime are Python's."""

    def __init__(self, params, spec=None, *, text=None, pick=None, target=None, defines=None, sets=None,
                 grad_dtype=None, frozen=(), threads=0):
        self._params = dict(params)
        frozen = set(frozen)
        for name, a in self._params.items():
            _check_param(name, a, name in frozen)
        _check_overlap(self._params)
        unknown = frozen - set(self._params)
        if unknown:
            raise ValueError(f"frozen: no parameter is named {sorted(unknown)[0]!r}")
        table = [Param(name, a.shape, _DTYPES[a.dtype.name], None if name in frozen else grad_dtype, name in frozen)
                 for name, a in self._params.items()]
        self._grad_dtype = {p.name: p.grad or p.dtype for p in table if not p.frozen}
        self.program = Program(spec, table, text=text, pick=pick, target=target, defines=defines, sets=sets)
        self.notes = self.program.notes
        if self.program.messages:
            warnings.warn(self.program.messages, stacklevel=2)
        self._open(threads)

    @property
    def hypers(self):
        """See Hypers; opt.hypers["lr"] = 1e-4."""
        return Hypers(self)

    def _open(self, threads):
        log = _logger(self.notes)
        options = _c.Options(threads=threads, log=log)
        self._handle = ctypes.c_void_p()
        status = _c.steprt.steprt_open(self.program.step, options, self._handle)
        weakref.finalize(self, _close, self._handle, self.program, log, *self._params.values())
        self._check(status)
        sizes = (ctypes.c_uint64 * len(self._params))(*(a.nbytes for a in self._params.values()))
        self._check(_c.steprt.steprt_bind_sized(self._handle, self._pointers(self._params), sizes))

    def _check(self, status):
        if status != 0:
            text = _c.steprt.steprt_error(self._handle).decode(errors="replace")
            raise Error(text or _c.steprt.steprt_status_text(status).decode())

    def _pointers(self, arrays):
        """Addresses in the order of the parameters; absent ones are NULL."""
        address = [arrays[name].ctypes.data if arrays.get(name) is not None else None for name in self._params]
        return (ctypes.c_void_p * len(address))(*address)

    def _check_grad(self, name, g):
        if name not in self._params:
            raise KeyError(f"no parameter is named {name!r}")
        if g is None:
            return
        what = f"the gradient of {name!r}"
        if name not in self._grad_dtype:
            raise ValueError(f"{name!r} is frozen: it has no gradient")
        _check_array(what, g)
        want = self._grad_dtype[name]
        if _DTYPES[g.dtype.name] != want:
            raise TypeError(f"{what} is {g.dtype}; this optimizer was compiled for {_NAMES[want]} (see grad_dtype)")
        if g.shape != self._params[name].shape:
            raise ValueError(f"{what} has shape {g.shape}, the parameter {self._params[name].shape}")

    def step(self, grads):
        """Updates the parameters. `grads` maps names to arrays; who is absent, or None, takes no part."""
        grads = dict(grads)  # a mapping may make its arrays when asked, like an open .npz file: these must live
        for name, g in grads.items():
            self._check_grad(name, g)
        try:
            self._check(_c.steprt.steprt_begin(self._handle, _c.Step(grads=self._pointers(grads))))
            self._check(_c.steprt.steprt_run(self._handle, None))
            self._check(_c.steprt.steprt_end(self._handle))
            self._check(_c.steprt.steprt_wait_all(self._handle))
        except BaseException:  # Ctrl-C comes between two calls: a step that has begun is completed
            _c.steprt.steprt_run(self._handle, None)
            _c.steprt.steprt_end(self._handle)
            _c.steprt.steprt_wait_all(self._handle)
            raise

    def _state(self, call, name, state, a):
        index = list(self._params).index(name) if name in self._params else None
        if index is None:
            raise KeyError(f"no parameter is named {name!r}")
        if not isinstance(a, numpy.ndarray) or not a.flags.c_contiguous:
            raise TypeError(f"the state {state!r} of {name!r} is copied from and to C-contiguous numpy arrays")
        self._check(call(self._handle, index, state.encode(), a.ctypes.data, a.nbytes))

    def read_state(self, name, state, into):
        """Copies a state of a parameter ("w", "m") into an array of its size in bytes, as it rests."""
        if isinstance(into, numpy.ndarray) and not into.flags.writeable:
            raise ValueError(f"the array for the state {state!r} of {name!r} is read-only")
        self._state(_c.steprt.steprt_state_get, name, state, into)

    def write_state(self, name, state, values):
        """The other way."""
        self._state(_c.steprt.steprt_state_set, name, state, values)

    @property
    def report(self):
        r = _c.Report()
        self._check(_c.steprt.steprt_report(self._handle, r))
        return Report(bool(r.skipped), r.grad_norm, r.clip_factor, r.bytes_moved, r.seconds)
