"""The cases that make_torch_vectors.py asks torch and test_torch.py asks stepc."""
import dataclasses

from specs import spec_names

STEPS = 8
SHAPES = {"wide": (6, 17), "tall": (17, 6), "square": (9, 9), "vector": (23,)}
MATRICES = ("wide", "tall", "square")


@dataclasses.dataclass
class Case:
    name: str
    torch_class: str
    torch_arguments: dict
    spec: str
    hypers: dict
    statics: dict = dataclasses.field(default_factory=dict)
    states: dict = dataclasses.field(default_factory=dict)  # ours: torch's
    matrices: bool = False  # only parameters of rank 2
    tolerance: float = 5e-6  # relative, of the parameters' change, Frobenius


def adamw(name, amsgrad=False, **arguments):
    torch_arguments = {"betas": (0.9, 0.999), "amsgrad": amsgrad, "foreach": False, **arguments}
    hypers = spec_names({k: v for k, v in arguments.items() if k != "betas"})
    hypers["beta1"], hypers["beta2"] = torch_arguments["betas"]
    states = {"m": "exp_avg", "v": "exp_avg_sq"} | ({"vmax": "max_exp_avg_sq"} if amsgrad else {})
    return Case(name, "AdamW", torch_arguments, "adamw.opt", hypers, {"amsgrad": amsgrad}, states)


def sgd(name, nesterov=False, **arguments):
    has_buffer = bool(arguments.get("momentum"))
    return Case(name, "SGD", {"nesterov": nesterov, "foreach": False, **arguments}, "sgd.opt", spec_names(arguments),
                {"nesterov": nesterov, "buffer": has_buffer}, {"buf": "momentum_buffer"} if has_buffer else {})


def muon(name, adjust, nesterov=True, **arguments):
    factor = {"original": "aspect", "match_rms_adamw": "rms"}[adjust]
    return Case(name, "Muon", {"adjust_lr_fn": adjust, "nesterov": nesterov, **arguments}, "muon.opt",
                spec_names(arguments, momentum="beta"), {"form": "torch", "nesterov": nesterov, "factor": factor},
                {"m": "momentum_buffer"}, True, 3e-2)


CASES = [
    adamw("adamw", lr=1e-3, weight_decay=1e-2, eps=1e-8),
    adamw("adamw_amsgrad", amsgrad=True, lr=3e-3, weight_decay=0.0, eps=1e-8, betas=(0.8, 0.95)),
    adamw("adamw_decay", lr=1e-2, weight_decay=0.3, eps=1e-6),
    sgd("sgd", lr=0.1),
    sgd("sgd_decay", lr=0.1, weight_decay=0.02),
    sgd("sgd_momentum", lr=0.05, momentum=0.9, weight_decay=0.01),
    sgd("sgd_dampening", lr=0.05, momentum=0.8, dampening=0.3),
    sgd("sgd_nesterov", nesterov=True, lr=0.05, momentum=0.9),
    muon("muon", "original", lr=0.02, momentum=0.95, weight_decay=0.1),
    muon("muon_rms", "match_rms_adamw", lr=1e-3, momentum=0.9, weight_decay=0.0),
    muon("muon_plain", "original", nesterov=False, lr=0.02, momentum=0.95, weight_decay=0.0),
]
