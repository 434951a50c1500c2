"""The two libraries through ctypes: what compiler/stepc.h and runtime/steprt.h declare, and where they are found."""

import ctypes as c
import os
import pathlib

_HERE = pathlib.Path(__file__).resolve().parent


def _candidates(file):
    """Folders of STEPC_LIBRARY_PATH, then this package, then the build of this repository, then the system's."""
    for folder in os.environ.get("STEPC_LIBRARY_PATH", "").split(":"):
        if folder:
            yield pathlib.Path(folder).absolute() / file  # a bare name would be searched elsewhere
    yield _HERE / file
    yield _HERE.parents[2] / "build" / "release" / file


def _load(file):
    for path in _candidates(file):
        if path.exists():
            return c.CDLL(str(path))
    try:
        return c.CDLL(file)
    except OSError as error:
        raise ImportError(f"{file} is in no folder of STEPC_LIBRARY_PATH, not beside {_HERE} and not installed; "
                          f"build it: cmake --preset release && cmake --build --preset release") from error


class Sized(c.Structure):
    """A versioned struct: its size is its first field."""

    def __init__(self, **fields):
        super().__init__(size=c.sizeof(self), **fields)


class Param(Sized):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("dim", c.POINTER(c.c_uint64)), ("rank", c.c_uint32),
                ("frozen", c.c_int32), ("dtype", c.c_char_p), ("grad", c.c_char_p), ("tied", c.c_char_p)]


class Job(Sized):
    _fields_ = [("size", c.c_size_t), ("spec", c.c_char_p), ("spec_text", c.c_char_p), ("pick", c.c_char_p),
                ("model", c.c_char_p), ("params", c.POINTER(Param)), ("n_params", c.c_uint32), ("target", c.c_char_p),
                ("defines", c.POINTER(c.c_char_p)), ("sets", c.POINTER(c.c_char_p)), ("n_defines", c.c_uint32),
                ("n_sets", c.c_uint32), ("memory_limit", c.c_uint64)]


class Summary(Sized):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("n_params", c.c_uint32), ("n_uses", c.c_uint32),
                ("n_rules", c.c_uint32), ("n_kernels", c.c_uint32), ("n_hypers", c.c_uint32),
                ("n_notes", c.c_uint32), ("n_diags", c.c_uint32), ("n_errors", c.c_uint32),
                ("n_warnings", c.c_uint32), ("state_bytes", c.c_uint64), ("temp_bytes", c.c_uint64),
                ("parse_seconds", c.c_double), ("model_seconds", c.c_double), ("sema_seconds", c.c_double),
                ("lower_seconds", c.c_double), ("code_seconds", c.c_double)]


class Diag(Sized):
    _fields_ = [("size", c.c_size_t), ("code", c.c_char_p), ("name", c.c_char_p), ("text", c.c_char_p),
                ("path", c.c_char_p), ("line", c.c_uint32), ("col", c.c_uint32), ("end_line", c.c_uint32),
                ("end_col", c.c_uint32), ("severity", c.c_int32), ("n_notes", c.c_uint32)]


class ParamInfo(Sized):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("dtype", c.c_char_p), ("grad", c.c_char_p),
                ("dim", c.POINTER(c.c_uint64)), ("rank", c.c_uint32), ("frozen", c.c_int32), ("tied_to", c.c_int64),
                ("optimizer", c.c_char_p), ("label", c.c_char_p), ("reason", c.c_char_p)]


class HyperInfo(Sized):
    _fields_ = [("size", c.c_size_t), ("label", c.c_char_p), ("name", c.c_char_p), ("alias", c.c_char_p),
                ("value", c.c_double), ("is_bound", c.c_int32), ("has_range", c.c_int32), ("lo_open", c.c_int32),
                ("hi_open", c.c_int32), ("lo", c.c_double), ("hi", c.c_double)]


LOG = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p)


class Options(Sized):
    _fields_ = [("size", c.c_size_t), ("threads", c.c_uint32), ("log", LOG), ("log_ctx", c.c_void_p)]


class Step(Sized):
    _fields_ = [("size", c.c_size_t), ("grads", c.POINTER(c.c_void_p))]


class Report(Sized):
    _fields_ = [("size", c.c_size_t), ("skipped", c.c_int32), ("grad_norm", c.c_double), ("clip_factor", c.c_double),
                ("bytes_moved", c.c_uint64), ("seconds", c.c_double), ("map_seconds", c.c_double),
                ("matrix_seconds", c.c_double)]


_P, _RT = c.c_void_p, c.c_void_p
_COMPILER = {
    "stepc_version": (c.c_char_p, []),
    "stepc_compile": (c.c_int, [c.POINTER(Job), c.POINTER(_P)]),
    "stepc_program_free": (None, [_P]),
    "stepc_program_summary": (c.c_int, [_P, c.POINTER(Summary)]),
    "stepc_program_error": (c.c_char_p, [_P]),
    "stepc_program_messages": (c.c_char_p, [_P]),
    "stepc_program_diag": (c.c_int, [_P, c.c_uint32, c.POINTER(Diag)]),
    "stepc_program_diag_note": (c.c_int, [_P, c.c_uint32, c.c_uint32, c.POINTER(Diag)]),
    "stepc_program_note": (c.c_char_p, [_P, c.c_uint32]),
    "stepc_program_param": (c.c_int, [_P, c.c_uint32, c.POINTER(ParamInfo)]),
    "stepc_program_hyper": (c.c_int, [_P, c.c_uint32, c.POINTER(HyperInfo)]),
    "stepc_program_emit": (c.c_int, [_P, c.c_char_p, c.POINTER(c.c_char_p)]),
    "stepc_status_text": (c.c_char_p, [c.c_int]),
}
_RUNTIME = {
    "steprt_status_text": (c.c_char_p, [c.c_int]),
    "steprt_open": (c.c_int, [c.c_void_p, c.POINTER(Options), c.POINTER(_RT)]),
    "steprt_destroy": (None, [_RT]),
    "steprt_error": (c.c_char_p, [_RT]),
    "steprt_bind_sized": (c.c_int, [_RT, c.POINTER(c.c_void_p), c.POINTER(c.c_uint64)]),
    "steprt_set_hyper": (c.c_int, [_RT, c.c_int32, c.c_double]),
    "steprt_get_hyper": (c.c_double, [_RT, c.c_int32]),
    "steprt_begin": (c.c_int, [_RT, c.POINTER(Step)]),
    "steprt_run": (c.c_int, [_RT, c.c_void_p]),
    "steprt_end": (c.c_int, [_RT]),
    "steprt_wait_all": (c.c_int, [_RT]),
    "steprt_state_get": (c.c_int, [_RT, c.c_uint32, c.c_char_p, c.c_void_p, c.c_uint64]),
    "steprt_state_set": (c.c_int, [_RT, c.c_uint32, c.c_char_p, c.c_void_p, c.c_uint64]),
    "steprt_report": (c.c_int, [_RT, c.POINTER(Report)]),
}


def _declared(file, functions):
    library = _load(file)
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


stepc = _declared("libstepc.so", _COMPILER)
steprt = _declared("libsteprt.so", _RUNTIME)
