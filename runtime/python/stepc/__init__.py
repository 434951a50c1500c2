"""stepc compiles optimizers: a spec of twenty lines and the parameters of a model become a step that runs.

stepc.numpy.Optimizer updates numpy arrays on the CPU. stepc.Program is the compiled step by itself: what it tells
about its parameters, hypers and code. What is wrong comes as stepc.Error, with the compiler's messages as its text.
"""

import ctypes
import typing
import weakref

from . import _c

__version__ = _c.stepc.stepc_version().decode()


class Diagnostic(typing.NamedTuple):
    severity: str  # "error", "warning"; of those in `notes` "note", "help"
    code: str  # "E0201"
    name: str
    text: str
    path: str  # "" and zeros where there is no place; lines and columns count from 1, the end is exclusive
    line: int
    col: int
    end_line: int
    end_col: int
    notes: tuple = ()


class Error(Exception):
    """`diagnostics` has the compiler's messages as data; it is empty for what the runtime refused."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)


class Param(typing.NamedTuple):
    """What to compile for. Frozen ones have no gradient; `tied` names the parameter that this one is again."""

    name: str
    shape: tuple
    dtype: str = "f32"  # or "bf16", "f16"
    grad: typing.Optional[str] = None  # as dtype
    frozen: bool = False
    tied: typing.Optional[str] = None


class Hyper(typing.NamedTuple):
    label: str  # of the use line; "": the recipe's
    name: str
    alias: str  # torch's name where the spec gives one
    value: float
    is_bound: bool  # follows from other hypers


class Rule(typing.NamedTuple):
    """What became of a parameter: the optimizer, the label of its use line, and the condition that chose it."""

    param: str
    optimizer: str
    label: str
    reason: str


def text_bytes(text, what):
    """As a C string. None stays None."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{what} holds a NUL character: {text!r}")
    return text.encode()


def _params_array(params):
    array = (_c.Param * len(params))()
    for slot, p in zip(array, params):
        dim = (ctypes.c_uint64 * len(p.shape))(*p.shape)
        slot.__init__(name=text_bytes(p.name, "a parameter's name"), dim=dim, rank=len(p.shape),
                      frozen=bool(p.frozen), dtype=text_bytes(p.dtype, "dtype"), grad=text_bytes(p.grad, "grad"),
                      tied=text_bytes(p.tied, "tied"))
    return array


def _settings(settings, what):
    """{"rest.lr": 0.1} as "rest.lr=0.1"."""
    def value(v):
        v = v.item() if hasattr(v, "item") else v  # numpy's scalars, whose repr names their type
        return ("true" if v else "false") if isinstance(v, bool) else v if isinstance(v, str) else repr(v)

    texts = [text_bytes(f"{k}={value(v)}", what) for k, v in (settings or {}).items()]
    return (ctypes.c_char_p * len(texts))(*texts), len(texts)


class Unique:
    """Owns a handle: a copy would use it after its owner is gone."""

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} cannot be copied or pickled: it owns compiled code or running state")


class Program(Unique):
    """A compiled step. `spec` is a path, or "FILE:NAME"; with `text` it only says what messages call that text and
    where its imports lie. `defines` sets statics, `sets` hypers: {"ns": "polar_express"}, {"rest.lr": 1e-4}."""

    def __init__(self, spec=None, params=None, *, text=None, model=None, pick=None, target=None, defines=None,
                 sets=None):
        job = _c.Job(spec=text_bytes(None if spec is None else str(spec), "spec"), spec_text=text_bytes(text, "text"),
                     pick=text_bytes(pick, "pick"), model=text_bytes(None if model is None else str(model), "model"),
                     target=text_bytes(target, "target"))
        if params is not None:
            params = list(params)
            job.params, job.n_params = _params_array(params), len(params)
        job.defines, job.n_defines = _settings(defines, "a define")
        job.sets, job.n_sets = _settings(sets, "a setting")
        handle = ctypes.c_void_p()
        status = _c.stepc.stepc_compile(job, handle)
        self._handle = handle
        self._close = weakref.finalize(self, _c.stepc.stepc_program_free, handle)
        if status != 0:
            raise Error(self._failure(status), self.diagnostics)

    def _failure(self, status):
        error = _c.stepc.stepc_program_error(self._handle).decode(errors="replace")
        return self.messages or f"{_c.stepc.stepc_status_text(status).decode()}: {error}"

    @property
    def step(self):
        """For steprt_open: an address that lives as long as this object."""
        return self._handle

    @property
    def messages(self):
        """All diagnostics as the tool prints them."""
        return _c.stepc.stepc_program_messages(self._handle).decode(errors="replace")

    def _summary(self):
        s = _c.Summary()
        _c.stepc.stepc_program_summary(self._handle, s)
        return s

    def _all(self, n, record, get):
        for i in range(n):
            r = record()
            get(self._handle, i, r)
            yield r

    @property
    def name(self):
        return self._summary().name.decode()

    @property
    def state_bytes(self):
        return self._summary().state_bytes

    @property
    def notes(self):
        """What was replaced by something else, and why."""
        return [_c.stepc.stepc_program_note(self._handle, i).decode() for i in range(self._summary().n_notes)]

    @property
    def hypers(self):
        return [Hyper(h.label.decode(), h.name.decode(), h.alias.decode(), h.value, bool(h.is_bound))
                for h in self._all(self._summary().n_hypers, _c.HyperInfo, _c.stepc.stepc_program_hyper)]

    @property
    def rules(self):
        return [Rule(p.name.decode(), p.optimizer.decode(), p.label.decode(), p.reason.decode())
                for p in self._all(self._summary().n_params, _c.ParamInfo, _c.stepc.stepc_program_param)]

    @property
    def diagnostics(self):
        all_diags = self._all(self._summary().n_diags, _c.Diag, _c.stepc.stepc_program_diag)
        return [self._diagnostic(d, i) for i, d in enumerate(all_diags)]

    def _diagnostic(self, d, index=None):
        notes = []
        for k in range(d.n_notes if index is not None else 0):
            note = _c.Diag()
            _c.stepc.stepc_program_diag_note(self._handle, index, k, note)
            notes.append(self._diagnostic(note))
        return Diagnostic(("warning", "error", "note", "help")[d.severity], d.code.decode(), d.name.decode(),
                          d.text.decode(errors="replace"), d.path.decode(errors="surrogateescape"), d.line, d.col,
                          d.end_line, d.end_col, tuple(notes))

    def emit(self, kind):
        """The text of one stage: "ast", "ir", "phases", "llvm", "asm", "cuda"."""
        text = ctypes.c_char_p()
        status = _c.stepc.stepc_program_emit(self._handle, text_bytes(kind, "kind"), text)
        if status == -1:
            raise ValueError(f"no stage {kind!r}: ast, ir, phases, llvm, asm, cuda")
        if status != 0:
            raise Error(self._failure(status))
        return text.value.decode()
