"""solver.py - Bitwuzla or Z3 as one function: whether a script has a model, and the model's numbers.

Bitwuzla (PyPI: bitwuzla) is the faster one. Z3 (Debian: python3-z3, PyPI: z3-solver) takes its place where Bitwuzla is
missing, or with SOLVER=z3. `python3 solver.py` prints the name of the solver, or nothing and exit status 1.
"""
import os
import sys


def bitwuzla_solve(lines, names):
    import bitwuzla

    manager, options = bitwuzla.TermManager(), bitwuzla.Options()
    options.set("produce-models", True)
    parser = bitwuzla.Parser(manager, options)
    parser.parse("\n".join(lines), True, False)
    solver = parser.bitwuzla()
    result = str(solver.check_sat())
    values = None
    if result == "sat":
        values = [int(solver.get_value(parser.parse_term(name)).value(10)) for name in names]
    return result, values


def z3_solve(lines, names):
    import z3

    solver = z3.SolverFor("QF_BVFP")
    declared = [f"(declare-const value{i} (_ BitVec {width}))\n(assert (= value{i} {name}))"
                for i, (name, width) in enumerate(names.items())]
    solver.from_string("\n".join(lines + declared))
    result = str(solver.check())
    values = None
    if result == "sat":
        model = solver.model()
        values = [model.eval(z3.BitVec(f"value{i}", width), True).as_long() for i, width in enumerate(names.values())]
    return result, values


SOLVERS = {"bitwuzla": bitwuzla_solve, "z3": z3_solve}


def name():
    """The solver that SOLVER asks for, or the first that is installed; None if there is none."""
    asked = os.environ.get("SOLVER")
    for solver in [asked] if asked else SOLVERS:
        try:
            __import__(solver)
            return solver
        except ImportError:
            pass
    return None


def version(solver):
    module = __import__(solver)
    return f"{solver} {module.get_version_string() if solver == 'z3' else installed(solver)}"


def installed(package):
    from importlib.metadata import version as of

    return of(package)


def solve(solver, lines, names):
    """("sat" or "unsat", numbers of the terms `names` (a dictionary: term to width) where sat)."""
    return SOLVERS[solver](lines, names)


if __name__ == "__main__":
    if name() is None:
        sys.exit(1)
    print(name())
