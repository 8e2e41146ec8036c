"""goals.py - the goals of `make prove`: one for each case of goal.c, format of the registry and group of modes, and
the goals with planted faults.
"""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
DESCRIBE = os.environ.get("DESCRIBE", "build/test/describe")
MODES = "rne rna rz ru rd ro sra srb src rnu rnz rnd".split()
GROUPS = {"deterministic": 0xE3F, "stochastic": 0x1C0, "all": 0xFFF, "rne": 1}
WITH_MODE = "exact core64 watched64 core32 any32 watched32 tapered64 tapered32".split()

# What a case of goal.c is about, for the report.
FUNCTIONS = {
    "exact": "ulp_round_exact", "core64": "ulp_core_round64", "watched64": "ulp_core_watched64",
    "core32": "ulp_core_magnitude and ulp_core_finish", "any32": "the same by ULP_SHAPE_ANY",
    "watched32": "ulp_watched", "nearest64": "ulp_nearest64", "within64": "ulp_nearest64 within the range",
    "tapered64": "ulp_tapered_round64", "tapered32": "ulp_tapered_round", "decide": "ulp_round_up", "to_odd": "ulp_to_odd",
    "once": "ulp_core64_decides", "formats": "ulp_round_exact of formats with unknown parameters",
}

# Cases and formats of the planted faults, and of the comparison of terms with the executed program.
PLANTED = [pair.split(":") for pair in """exact:e4m3 exact:q8.8 exact:dlfloat16 exact:posit8 exact:takum16 exact:hif8
    core64:e4m3 watched64:e4m3 core32:e4m3 core32:bfloat16 any32:binary16 watched32:bfloat16 nearest64:binary16
    within64:q8.8 tapered64:takum8 tapered32:posit16""".split()]
SAMPLED = [pair.split(":") for pair in """exact:e4m3 exact:q8.8 exact:posit8 core64:e4m3 watched64:e4m3 core32:bfloat16
    core32:e4m3 any32:e4m3 nearest64:binary16 tapered64:takum16 tapered32:posit8 decide: to_odd:""".split()]


# Proofs in parts: (case, format, modes) -> the first and the last exponent field of the inputs that have a goal each. A goal
# has all fields below them, another one all fields above. Below its least number dlfloat16 divides by 513: with all
# shifts at once a solver had no answer in 600 s of the processor, and one shift takes about a minute.
PARTS = {("exact", "dlfloat16", "stochastic"): (957, 991)}


class Goal:
    """`fault`: None, a number of SPEC_FAULT, or the name of a change of the sources in mutants.txt. `sample`: the terms
    and the executed program on words of a sample, instead of a proof. `fields`: the exponent fields of the inputs, the
    first one and the one after the last; None: all."""

    def __init__(self, case, form, group, fault=None, sample=False, fields=None):
        self.case, self.form, self.group, self.fault = case, form, group, fault
        self.sample, self.fields = sample, fields
        part = fields and (f"field:{fields[0]}" if fields[1] - fields[0] == 1 else f"fields:{fields[0]}..{fields[1] - 1}")
        self.name = "-".join(filter(None, [case, form, group, part, fault and f"fault:{fault}", sample and "terms"]))


# ---- the goals ----

def described():
    """The formats of the registry: (name, bits, kind)."""
    for line in subprocess.check_output([DESCRIBE], text=True).splitlines():
        name, bits, kind = line.split()
        yield name, int(bits), kind


def mutants():
    """name -> (file, pattern of sed, case, format, group)."""
    found = {}
    for line in open(f"{HERE}/mutants.txt"):
        if line.strip() and not line.startswith("#"):
            name, path, case, form, group, change = line.rstrip("\n").split(None, 5)
            found[name] = (path, change, case, *("" if word == "-" else word for word in (form, group)))
    return found


def parts(case, form, group):
    """The goals of a case: one, or one for each part; together the parts have every exponent field once."""
    if (case, form, group) not in PARTS:
        return [Goal(case, form, group)]
    first, last = PARTS[case, form, group]
    ends = [0, *range(first, last + 2), 2048]
    return [Goal(case, form, group, fields=ends[i:i + 2]) for i in range(len(ends) - 1)]


def goals():
    for case in ("decide", "once"):
        for group in ("deterministic", "stochastic"):
            yield Goal(case, "", group)
            yield Goal(case, "", group, "1")
    yield Goal("to_odd", "", "")
    yield Goal("to_odd", "", "", "1")
    for name, bits, kind in described():
        if bits > 16:
            continue
        cases = ["exact"]
        cases += {"floating": ["core64", "watched64", "core32", "any32", "watched32"], "fixed": [],
                  "tapered": ["tapered64", "tapered32"]}[kind]
        if kind == "floating" or kind == "fixed":
            cases += ["nearest64", "within64"]
        for case in cases:
            for group in ["deterministic", "stochastic"] if case in WITH_MODE else ["rne"]:
                yield from parts(case, name, group)
    # each case with each planted fault that its format can show
    for case, form in PLANTED:
        for fault in "123":
            if fault == "3" and form in ("q8.8", "dlfloat16"):
                continue  # no number below the normal ones
            for group in ["deterministic", "stochastic"] if case in WITH_MODE and fault == "1" else \
                    ["deterministic" if case in WITH_MODE else "rne"]:
                if case.startswith(("watched", "within")) and fault == "2":
                    continue  # numbers beyond the range are not promised
                yield Goal(case, form, group, fault)
    yield Goal("exact", "dlfloat16", "stochastic", "1", fields=[975, 976])
    for name, (_, _, case, form, group) in mutants().items():
        yield Goal(case, form, group, name)
    for case, form in SAMPLED:
        yield Goal(case, form, "all" if case in WITH_MODE else "", sample=True)
    for prec in range(1, 17):
        for group in ("deterministic", "stochastic"):
            yield Goal("formats", f"p{prec}", group)
    yield Goal("formats", "p4", "deterministic", "3")
    yield Goal("formats", "p4", "stochastic", "1")
