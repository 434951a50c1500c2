"""The shipped specs beside the formula that each stands for, and their names for torch's arguments."""
import dataclasses
import typing

import formulas


@dataclasses.dataclass
class Case:
    spec: str
    hypers: dict
    statics: dict
    make: typing.Callable  # the formula


NAMES = {"weight_decay": "wd"}


def spec_names(arguments, **more):
    names = NAMES | more
    return {names.get(k, k): v for k, v in arguments.items()}


def sgd(nesterov=False, buffer=True, **h):
    return Case("sgd.opt", spec_names(h), {"nesterov": nesterov, "buffer": buffer},
                lambda: formulas.Sgd(nesterov=nesterov, **h))


def adamw(amsgrad=False, **h):
    return Case("adamw.opt", spec_names(h), {"amsgrad": amsgrad}, lambda: formulas.AdamW(amsgrad=amsgrad, **h))


def lion(**h):
    return Case("lion.opt", spec_names(h), {}, lambda: formulas.Lion(**h))


def muon(form="keller", nesterov=True, factor=None, iteration=None, **h):
    factor = factor or ("rms" if form == "moonlight" else "aspect")
    statics = {"form": form, "nesterov": nesterov, "factor": factor}
    if iteration:
        statics["ns"] = iteration
    return Case("muon.opt", spec_names(h, momentum="beta"), statics,
                lambda: formulas.Muon(form, nesterov=nesterov, factor=factor, **formulas.ITERATIONS[iteration or form],
                                      **h))
