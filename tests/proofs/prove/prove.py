"""prove.py - `make prove`: every goal of the registry, proved or refuted by a solver; prove.sh calls it.

A goal is a function of the library, a format and a group of modes. clang compiles goal.c for it, ir.py makes terms of
the result, and a solver looks for words on which the library and the specification differ. A goal with a planted fault
counts as refuted only if the words that the solver finds differ in the executed program too. A goal `terms` gives words
to the terms and to the executed program and compares the results.

  prove.py list                       the goals
  prove.py run [--jobs N] [--limit S] [--only REGEX] [--report FILE] [--retry]
  prove.py one GOAL [--text FILE]     one goal, in this process; prints its verdict. FILE: what clang has made of it
"""
import argparse
import concurrent.futures
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys

import ir
import solver
from goals import DESCRIBE, FUNCTIONS, GROUPS, HERE, MODES, WITH_MODE, goals, mutants

BUILD = os.environ.get("PROVE_BUILD", "build/prove")
CLANG = os.environ.get("CLANG", "clang")
CC = os.environ.get("CC", "cc")
LIBRARY = os.path.abspath(os.environ.get("LIBRARY", "build/lib/libulp.so"))  # for functions that no goal includes
# loops are unrolled and functions are inlined as far as possible; tables become branches
FLAGS = """-std=c11 -O2 -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-vectorize -fno-slp-vectorize
    -fno-jump-tables -fno-builtin -fno-discard-value-names -mllvm -inline-threshold=100000
    -mllvm -unroll-threshold=100000 -mllvm -switch-to-lookup=false -Wno-unused-function -S -emit-llvm""".split()


# ---- one goal ----

def includes(goal):
    """The folders of headers: in a copy of the sources where the goal changes them."""
    if goal.fault is None or goal.fault.isdigit():
        return ["-I.", f"-I{HERE}"]
    path, change, *_ = mutants()[goal.fault]
    root = f"{BUILD}/mutants/{goal.fault}"
    subprocess.check_call(["rm", "-rf", root])
    os.makedirs(f"{root}/kernels")
    subprocess.check_call(["cp", "-R", "formats", root])
    subprocess.check_call(["cp", "-R", "kernels/rounding", "kernels/products", f"{root}/kernels"])
    subprocess.check_call(["cp", "kernels/backend.h", f"{root}/kernels"])
    before = open(path).read()
    after = subprocess.check_output(["sed", "-E", change, path], text=True)
    if after == before:
        raise SystemExit(f"prove: the change {goal.fault} of mutants.txt finds nothing to change in {path}")
    with open(f"{root}/{path}", "w") as out:
        out.write(after)
    return [f"-I{root}", f"-I{HERE}"]


def arguments(goal):
    given = [f"-DGOAL_{goal.case}"]
    if goal.group:
        given.append(f"-DGOAL_MODES={GROUPS[goal.group]}")
    if goal.case == "formats":  # one precision; biases of exponent fields of up to 8 bits
        given.append(f"-DGOAL_LIMITS=(prec!={goal.form[1:]}||bias>128)")
    elif goal.form:
        header = f"{BUILD}/{goal.form}.h"
        if not os.path.exists(header) or os.path.getmtime(header) < os.path.getmtime(DESCRIBE):
            text = subprocess.check_output([DESCRIBE, goal.form], text=True)
            with open(f"{header}.{os.getpid()}", "w") as out:
                out.write(text)
            os.replace(f"{header}.{os.getpid()}", header)
        given.append(f'-DFORMAT_H="{os.path.abspath(header)}"')
    if goal.fields:
        given += [f"-DGOAL_FROM={goal.fields[0]}", f"-DGOAL_TO={goal.fields[1]}"]
    if goal.fault and goal.fault.isdigit():
        given.append(f"-DSPEC_FAULT={goal.fault}")
    return given + includes(goal)


def compiled(goal):
    """What clang makes of the goal."""
    command = [CLANG, *FLAGS, *arguments(goal), f"{HERE}/goal.c", "-o", "-"]
    return subprocess.check_output(command, text=True)


def replayed(goal, function, rows):
    """(assumed, code, spec) of the executed goal for each row of words."""
    words = ", ".join(f"W({i})" for i in range(len(function.params)))
    program = os.path.abspath(f"{BUILD}/replay-{os.getpid()}")
    calls = [f"-D{name.upper()}={name}({words})" for name in ("assumed", "code", "spec")]
    calls.append(f"-DCOUNT={len(function.params)}")
    subprocess.check_call([CC, "-std=c11", "-O1", "-w", "-ffp-contract=off", *calls, *arguments(goal),
                           f"{HERE}/replay.c", LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", program])
    try:
        text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
        lines = subprocess.run([program], input=text, text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
        return [[int(v) for v in line.split()] for line in lines]
    finally:
        os.remove(program)


def key_of(goal, text):
    """What a verdict depends on."""
    text = text[text.index("\ndefine"):]  # the lines before have names of files
    parts = [text, *(open(f"{HERE}/{name}.py").read() for name in ("ir", "terms")), solver.name() or "", goal.name]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def offered(terms, mode_of, assumed):
    """The modes for which the library promises anything: a goal without one would prove nothing."""
    if mode_of is None:
        return ["rne"] if solver.solve(solver.name(), terms.lines + assumed, {})[0] == "sat" else []
    return [mode for i, mode in enumerate(MODES)
            if solver.solve(solver.name(), [*terms.lines, *assumed, f"(assert (= {mode_of} (_ bv{i} 32)))"], {})[0] == "sat"]


def sampled(made, goal, wanted=24):
    """Words for which the library promises something: (words, code, spec) of the executed goal."""
    random_of = random.Random(1)
    function = made.functions[0]
    while True:
        rows = []
        for _ in range(4000):
            row = []
            for i, (_, width) in enumerate(function.params):
                word = random_of.getrandbits(width)
                if width == 64 and random_of.random() < 0.9:  # near 1, and few fraction bits in half of the words
                    field = random_of.randrange(1023 - 30, 1023 + 30)
                    word = word & ~(0x7FF << 52) | field << 52
                    if random_of.random() < 0.5:
                        word &= ~0 << random_of.randrange(40, 53)
                if width == 32 and (i > 0 or goal.case == "decide") and random_of.random() < 0.8:
                    word = random_of.choice([0, 1, random_of.randrange(9)])  # a mode, a policy, a sign, a number
                if width == 32 and i == len(function.params) - 1 and goal.case != "decide" and random_of.random() < 0.7:
                    word = 32
                row.append(word)
            rows.append(row)
        results = replayed(goal, function, rows)
        found = [(row, code, spec) for row, (assumed, code, spec) in zip(rows, results) if assumed]
        if len(found) >= wanted or goal.case == "to_odd":
            return found[:wanted]


def agreement(goal, made):
    """Whether the terms have the results of the executed goal, for words of a sample."""
    samples = sampled(made, goal)
    names = dict(list(made.watched.items())[-2:])
    for words, code, spec in samples:
        given = [f"(assert (= {name} (_ bv{word} {made.watched[name]})))" for name, word in zip(made.inputs, words)]
        result, numbers = solver.solve(solver.name(), made.terms.lines + [made.assumed] + given, names)
        if result != "sat" or numbers != [code, spec]:
            return "failed", f"{' '.join(map(hex, words))}: executed {code:#x} {spec:#x}, terms {numbers}"
    return "agree", f"{len(samples)} words"


def attempt(goal, text):
    """(verdict, text): proved, refuted (with words that differ when executed), not offered, agree, or failed."""
    made = ir.Goal(text)
    if goal.sample:
        return agreement(goal, made)
    position = {"decide": 2, "once": 2, "formats": 5}.get(goal.case, 1 if goal.case in WITH_MODE else None)
    mode_of = None if position is None else made.inputs[position]
    modes = offered(made.terms, mode_of, [made.assumed])
    if not modes:
        return "not-offered", "-"
    about = " ".join(modes) if mode_of else "-"
    if goal.case in ("nearest64", "within64"):
        about = "rne"
    result, numbers = solver.solve(solver.name(), made.terms.lines + [made.assumed, made.differ], made.watched)
    if result == "unsat":
        return "proved", about
    if result != "sat":
        return "unfinished", about
    words = numbers[:len(made.inputs)]
    assumed, code, spec = replayed(goal, made.functions[0], [words])[0]
    where = " ".join(map(hex, words)) + f": code {code:#x} spec {spec:#x}"
    if not assumed or code == spec:
        return "failed", f"the solver's words do not differ when executed: {where}"
    if [code, spec] != numbers[-2:]:
        return "failed", f"the terms give {numbers[-2]:#x} {numbers[-1]:#x}, the executed program {where}"
    return "refuted", where


def one(goal, text):
    verdict, text = attempt(goal, text)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    print(f"{verdict} {used:.1f} {text}", flush=True)


# ---- all goals ----

def judge(goal, verdict):
    """proved, planted (a planted fault that was refuted), agree, unfinished, not-offered or failed."""
    if goal.sample:
        return verdict if verdict in ("agree", "unfinished") else "failed"
    if verdict in ("unfinished", "not-offered"):
        return "failed" if verdict == "not-offered" and goal.fault else verdict
    if goal.fault:
        return "planted" if verdict == "refuted" else "failed"
    return "proved" if verdict == "proved" else "failed"


children = set()  # processes of goals, which end with this one
stopped = False


def run_one(goal, limit, journal):
    made = compiled(goal)
    key = key_of(goal, made)
    if key in journal:
        return (goal, key, *journal[key], True)
    path = f"{BUILD}/{key}.ll"
    with open(path, "w") as out_file:
        out_file.write(made)
    command = [sys.executable, f"{HERE}/prove.py", "one", goal.name, "--limit", str(limit), "--text", path]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children.add(child)
    if stopped:
        child.kill()
    out, err = child.communicate()
    children.discard(child)
    os.remove(path)
    if child.returncode == -signal.SIGXCPU:
        verdict, used, text = "unfinished", str(limit), f"no answer in {limit} s of the processor"
    elif child.returncode != 0:
        verdict, used, text = "failed", "0", (err.strip().splitlines() or [f"exit status {child.returncode}"])[-1]
    else:
        verdict, used, text = out.strip().split(" ", 2)
    return goal, key, verdict, used, text, False


def read_journal(path):
    journal = {}
    if os.path.exists(path):
        for line in open(path):
            parts = line.rstrip("\n").split("\t")
            if len(parts) == 4:
                journal[parts[0]] = tuple(parts[1:])
    return journal


def run(options):
    global stopped
    try:
        chosen = [g for g in goals() if re.search(options.only, g.name)]
    except re.error as error:
        print(f"prove: ONLY={options.only} is no regular expression: {error}", file=sys.stderr)
        return 2
    if not chosen:
        print(f"prove: ONLY={options.only}: no goal has such a name; names are as exact-e4m3-deterministic", file=sys.stderr)
        return 2
    journal_path = f"{BUILD}/journal.txt"
    journal = {k: v for k, v in read_journal(journal_path).items() if v[0] != "unfinished" or not options.retry}
    counts, rows = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(journal_path, "a") as keep:
        waiting = [pool.submit(run_one, g, options.limit, journal) for g in chosen]
        try:
            for n, done in enumerate(concurrent.futures.as_completed(waiting), 1):
                goal, key, verdict, used, text, known = done.result()
                if not known and verdict != "failed":
                    keep.write(f"{key}\t{verdict}\t{used}\t{text}\n")
                    keep.flush()
                judged = judge(goal, verdict)
                counts[judged] = counts.get(judged, 0) + 1
                rows.append((goal, judged, used, text))
                print(f"{n}/{len(chosen)} {judged:11} {float(used):7.1f} s  {goal.name}" +
                      (f"  {text}" if judged in ("failed", "unfinished") or goal.fault else "") +
                      ("  (journal)" if known else ""), flush=True)
        except KeyboardInterrupt:
            stopped = True
            for future in waiting:
                future.cancel()
            for child in list(children):
                child.kill()
            print(f"prove: interrupted; {journal_path} keeps what is done, and the next `make prove` goes on")
    if options.report:
        report(options, chosen, rows)
    return 1 if stopped else finish(counts, rows)


def finish(counts, rows):
    have = lambda name: counts.get(name, 0)
    for goal, judged, _, text in rows:
        if judged in ("failed", "unfinished"):
            print(f"{judged}: {goal.name}: {text}")
    if have("not-offered"):
        print(f"not offered: {have('not-offered')} (the library does not offer the function for the format and modes)")
    if have("agree"):
        print(f"terms that agree with the executed program on a sample: {have('agree')}")
    print(f"{have('proved')} proved, {have('planted')} refuted as planted, {have('unfinished')} unfinished, {have('failed')} failed")
    passed = have("proved") + have("planted") + have("agree")
    print(f"{passed} passed, {have('failed')} failed, {have('unfinished')} skipped")
    return 0 if passed and not have("failed") else 1


def report(options, chosen, rows):
    order = {g.name: i for i, g in enumerate(chosen)}
    compiler = subprocess.check_output([CLANG, "--version"], text=True).splitlines()[0]
    head = ["prove - a line for each goal of `make prove REPORT=FILE`: verdict, processor seconds, function, format, modes;",
            "a planted fault has the words that show it, in the order of the parameters in goal.c",
            f"{solver.version(solver.name())}, {compiler}, limit {options.limit} s of the processor a goal"]
    if len(rows) < len(chosen):
        head.append(f"the run was interrupted: {len(rows)} of {len(chosen)} goals")
    with open(options.report + ".tmp", "w") as out:
        out.write("".join(f"# {line}\n" for line in head))
        for goal, judged, used, text in sorted(rows, key=lambda row: order[row[0].name]):
            if judged == "not-offered":
                continue
            fault = f" fault={goal.fault}" if goal.fault else ""
            part = f" fields={goal.fields[0]}..{goal.fields[1] - 1}" if goal.fields else ""
            out.write(f"{judged} {float(used):.1f} {FUNCTIONS[goal.case].replace(' ', '_')} {goal.form or '-'} "
                      f"{goal.group or '-'}{part}{fault} [{text}]\n")
    os.replace(options.report + ".tmp", options.report)


def main():
    parser = argparse.ArgumentParser(prog="prove")
    parser.add_argument("what", choices=["list", "run", "one"])
    parser.add_argument("goal", nargs="?")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=600, help="processor seconds for a goal")
    parser.add_argument("--only", default="")
    parser.add_argument("--report")
    parser.add_argument("--text")
    parser.add_argument("--retry", action="store_true", help="unfinished goals of the journal once more")
    options = parser.parse_args()
    os.makedirs(BUILD, exist_ok=True)
    if options.what == "list":
        print("\n".join(g.name for g in goals()))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.what == "one":
        resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit + 10))
        found = [g for g in goals() if g.name == options.goal]
        if not found:
            sys.exit(f"prove: {options.goal} is no goal; `prove.py list` lists them")
        one(found[0], open(options.text).read() if options.text else compiled(found[0]))
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
