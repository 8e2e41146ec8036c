"""ir.py - functions of LLVM's intermediate language as terms of SMT-LIB: what clang makes of goal.c, for a solver.

A function without calls and without memory becomes one term for its result. Blocks are visited in order of the flow of
control; a block has the condition under which it is reached, and a phi chooses by the conditions of its edges. A loop
that clang has not unrolled is unrolled here, at most UNROLL times; that it never goes on is part of what is proved.

What C leaves undefined may be anything: a shift by the width or more and a signed overflow give a fresh variable, so
that a proof holds for every value. Operations with binary64 and binary32 numbers are those of SMT-LIB's theory of
floating point, rounded to nearest even; a NaN has any bits. An instruction that this file does not know is an error.
"""
import re
import struct

from terms import Terms, Value, sort

UNROLL = 3


class Unknown(Exception):
    """An instruction or a form that is not translated."""


# ---- the text of a function ----

TYPE = r"(?:i\d+|double|float)"
OPERAND = r"(?:%[\w.-]+|-?\d+|true|false|undef|poison|-?\d+\.\d+e[+-]\d+|0x[0-9A-F]+)"


def width_of(kind):
    return {"double": 64, "float": 32}.get(kind) or int(kind[1:])


class Function:
    """Blocks in the order of the text: name -> list of instructions; a terminator is the last."""

    def __init__(self, text, name):
        found = re.search(r"^define [^\n]*@%s\(([^\n]*)\)[^\n]*\{\n(.*?)^\}" % name, text, re.M | re.S)
        if not found:
            raise Unknown(f"no function {name}")
        self.name = name
        self.params = []
        for part in filter(None, found.group(1).split(", ")):
            words = part.split()
            self.params.append((words[-1], width_of(words[0])))
        self.blocks, block = {}, None
        body = re.sub(r"switch ([^\n]*)\[\n(.*?)\n  \]", lambda m: f"switch {m[1]}[" + m[2].replace("\n", " ") + " ]",
                      found.group(2), flags=re.S)
        for line in body.split("\n"):
            line = re.sub(r"\s*;.*$", "", re.sub(r", ![\w.]+ !\d+", "", line)).rstrip()
            if not line:
                continue
            label = re.match(r"^([\w.-]+):$", line)
            if label:
                block = self.blocks.setdefault("%" + label[1], [])
            elif "@llvm.lifetime" not in line:
                block.append(line.strip())
        self.entry = next(iter(self.blocks))
        self.next = {b: re.findall(r"label (%[\w.-]+)", lines[-1]) for b, lines in self.blocks.items()}
        self.find_loops()

    def find_loops(self):
        """Numbers the edges that close a loop, by a search in depth."""
        self.back, state = {}, {}

        def visit(block):
            state[block] = 1
            for to in self.next[block]:
                if state.get(to) == 1:
                    self.back.setdefault((block, to), len(self.back))
                elif to not in state:
                    visit(to)
            state[block] = 2

        visit(self.entry)


class Translation:
    """A function applied to values. `result` is its result; `runs_on` whether a loop goes on after UNROLL times."""

    def __init__(self, terms, function, arguments):
        self.t, self.f = terms, function
        self.zero = (0,) * len(function.back)
        self.values = {}  # (name of an SSA value, counts of loops) -> Value
        self.params = {name: value for (name, _), value in zip(function.params, arguments)}
        self.reached = {}  # node -> condition
        self.edges = {}  # node -> list of (source node, condition)
        self.runs_on, self.returns = Value(1, 0), []
        self.run()

    def run(self):
        for node in self.order():
            block, counts = node
            if block == self.f.entry:
                condition = Value(1, 1)
            else:
                condition = Value(1, 0)
                for _, c in self.edges.get(node, []):
                    condition = self.t.either(condition, c)
            self.reached[node] = condition
            if condition.const == 0:
                continue
            for line in self.f.blocks[block]:
                self.step(line, node)
        result = None
        for condition, value in self.returns:
            result = value if result is None else self.t.choose(condition, value, result)
        self.result = result

    def order(self):
        """Nodes (block, counts) so that each comes after its sources."""
        done, order = set(), []

        def visit(node):
            stack = [(node, iter(self.successors(node)))]
            done.add(node)
            while stack:
                at, rest = stack[-1]
                for to in rest:
                    if to not in done:
                        done.add(to)
                        stack.append((to, iter(self.successors(to))))
                        break
                else:
                    order.append(at)
                    stack.pop()

        visit((self.f.entry, self.zero))
        return order[::-1]

    def successors(self, node):
        block, counts = node
        for to in dict.fromkeys(self.f.next[block]):
            after = self.after(block, to, counts)
            if after is not None:
                yield (to, after)

    def after(self, block, to, counts):
        loop = self.f.back.get((block, to))
        if loop is None:
            return counts
        if counts[loop] >= UNROLL:
            return None
        return counts[:loop] + (counts[loop] + 1,) + counts[loop + 1:]

    # ---- values ----

    def get(self, text, width, node, kind=None):
        if text.startswith("%"):
            if text in self.params:
                return self.params[text]
            counts = node[1]
            found = [c for (n, c) in self.values if n == text and all(a <= b for a, b in zip(c, counts))]
            return self.values[(text, max(found, key=lambda c: (sum(c), c)))]
        if text in ("undef", "poison"):
            return self.t.fresh(width)
        if text in ("true", "false"):
            return Value(1, int(text == "true"))
        if kind in ("double", "float"):
            bits = int(text, 16) if text.startswith("0x") else struct.unpack("<Q", struct.pack("<d", float(text)))[0]
            if kind == "float":
                number = struct.unpack("<d", struct.pack("<Q", bits))[0]
                bits = struct.unpack("<I", struct.pack("<f", number))[0]
            return Value(width, bits)
        return Value(width, int(text))

    def put(self, name, node, value):
        self.values[(name, node[1])] = value

    # ---- instructions ----

    def step(self, line, node):
        found = re.match(r"^(%[\w.-]+) = (.*)$", line)
        if not found:
            return self.leave(line, node)
        name, line = found.groups()
        for pattern, make in self.PATTERNS:
            match = re.match(pattern + "$", line)
            if match:
                return self.put(name, node, make(self, node, *match.groups()))
        raise Unknown(f"{self.f.name}: {line}")

    def leave(self, line, node):
        block, here = node[0], self.reached[node]
        if line.startswith("ret "):
            kind, value = re.match(r"^ret (%s) (%s)$" % (TYPE, OPERAND), line).groups()
            self.returns.append((here, self.get(value, width_of(kind), node)))
        elif line.startswith("br label"):
            self.edge(node, self.f.next[block][0], here)
        elif line.startswith("br i1"):
            condition = self.get(re.match(r"^br i1 (%s)," % OPERAND, line)[1], 1, node)
            yes, no = self.f.next[block]
            self.edge(node, yes, self.t.both(here, condition))
            self.edge(node, no, self.t.both(here, self.t.negate(condition)))
        elif line.startswith("switch"):
            kind, value, default, cases = re.match(
                r"^switch (i\d+) (%s), label (%%[\w.-]+) \[(.*)\]" % OPERAND, line).groups()
            value, rest = self.get(value, width_of(kind), node), here
            for number, to in re.findall(r"i\d+ (-?\d+), label (%[\w.-]+)", cases):
                is_case = self.equal(value, Value(value.width, int(number)))
                self.edge(node, to, self.t.both(here, is_case))
                rest = self.t.both(rest, self.t.negate(is_case))
            self.edge(node, default, rest)
        elif line != "unreachable":
            raise Unknown(f"{self.f.name}: {line}")

    def edge(self, node, to, condition):
        after = self.after(node[0], to, node[1])
        if after is None:
            self.runs_on = self.t.either(self.runs_on, condition)
        else:
            self.edges.setdefault((to, after), []).append((node, condition))

    def equal(self, a, b):
        if a.const is not None and b.const is not None:
            return Value(1, int(a.const == b.const))
        return self.t.define(1, f"(= {a.text} {b.text})")

    def phi(self, node, kind, sources):
        width, result = width_of(kind), None
        given = dict((b, v) for v, b in re.findall(r"\[ (%s), (%%[\w.-]+) \]" % OPERAND, sources))
        for source, condition in self.edges[node]:
            if condition.const == 0:
                continue
            value = self.get(given[source[0]], width, source, kind)
            result = value if result is None else self.t.choose(condition, value, result)
        return result

    BINARY = {"add": "bvadd", "sub": "bvsub", "mul": "bvmul", "and": "bvand", "or": "bvor", "xor": "bvxor",
              "shl": "bvshl", "lshr": "bvlshr", "ashr": "bvashr", "udiv": "bvudiv", "urem": "bvurem",
              "sdiv": "bvsdiv", "srem": "bvsrem"}

    def binary(self, node, op, flags, kind, a, b):
        width = width_of(kind)
        x, y = self.get(a, width, node), self.get(b, width, node)
        if width == 1 and op in ("and", "or", "xor"):
            return self.t.define(1, f"({op} {x.text} {y.text})")
        if op in ("add", "sub", "and", "or", "xor", "shl", "lshr") and x.const is not None and y.const is not None:
            known = {"add": x.const + y.const, "sub": x.const - y.const, "and": x.const & y.const,
                     "or": x.const | y.const, "xor": x.const ^ y.const}
            if op in known:
                return Value(width, known[op])
        result = self.t.define(width, f"({self.BINARY[op]} {x.text} {y.text})")
        undefined = []
        if op in ("shl", "lshr", "ashr") and (y.const is None or y.const >= width):
            undefined.append(f"(bvuge {y.text} (_ bv{width} {width}))")
        if op in ("udiv", "urem", "sdiv", "srem") and (y.const is None or y.const == 0):
            undefined.append(f"(= {y.text} (_ bv0 {width}))")
        if "nsw" in flags and op in ("add", "sub"):
            wide = f"({self.BINARY[op]} ((_ sign_extend 1) {x.text}) ((_ sign_extend 1) {y.text}))"
            undefined.append(f"(not (= {wide} ((_ sign_extend 1) {result.text})))")
        if "nsw" in flags and op == "mul":
            wide = f"(bvmul ((_ sign_extend {width}) {x.text}) ((_ sign_extend {width}) {y.text}))"
            undefined.append(f"(not (= {wide} ((_ sign_extend {width}) {result.text})))")
        if "nsw" in flags and op == "shl":
            undefined.append(f"(not (= (bvashr {result.text} {y.text}) {x.text}))")
        for condition in undefined:
            result = self.t.define(width, f"(ite {condition} {self.t.fresh(width).text} {result.text})")
        return result

    COMPARE = {"ne": "distinct", "eq": "=", "ugt": "bvugt", "uge": "bvuge", "ult": "bvult", "ule": "bvule",
               "sgt": "bvsgt", "sge": "bvsge", "slt": "bvslt", "sle": "bvsle"}

    def compare(self, node, op, kind, a, b):
        x, y = self.get(a, width_of(kind), node), self.get(b, width_of(kind), node)
        return self.t.define(1, f"({self.COMPARE[op]} {x.text} {y.text})")

    def select(self, node, condition, kind, a, b):
        x, y = (self.get(v, width_of(kind), node, kind) for v in (a, b))
        return self.t.choose(self.get(condition, 1, node), x, y)

    def convert(self, node, op, kind, a, to):
        x, w, width = self.get(a, width_of(kind), node, kind), width_of(kind), width_of(to)
        if op in ("bitcast", "freeze"):
            return x
        if op in ("uitofp", "sitofp"):
            return self.to_float(node, op, x, to)
        if op in ("fptrunc", "fpext"):
            return self.from_float(f"((_ to_fp {self.SIZES[width]}) RNE {self.as_float(x)})", width)
        if w == 1:
            one = "(bvneg (_ bv1 %d))" % width if op == "sext" else f"(_ bv1 {width})"
            return self.t.define(width, f"(ite {x.text} {one} (_ bv0 {width}))")
        if x.const is not None and op in ("trunc", "zext"):
            return Value(width, x.const)
        if op == "trunc" and width == 1:
            return self.t.define(1, f"(= ((_ extract 0 0) {x.text}) #b1)")
        form = {"trunc": f"(_ extract {width - 1} 0)", "zext": f"(_ zero_extend {width - w})",
                "sext": f"(_ sign_extend {width - w})"}[op]
        return self.t.define(width, f"({form} {x.text})")

    def intrinsic(self, node, name, kind, arguments):
        width = width_of(kind)
        x = [self.get(v, width_of(k), node, k) for k, v in re.findall(r"(%s) (?:noundef )?(%s)" % (TYPE, OPERAND), arguments)]
        a, b = x[0].text, x[1].text if len(x) > 1 else None
        if name in ("fshl", "fshr"):
            count = f"(bvurem {x[2].text} (_ bv{width} {width}))"
            if width & (width - 1) == 0:
                count = f"(bvand {x[2].text} (_ bv{width - 1} {width}))"
            part = f"({'bvshl' if name == 'fshl' else 'bvlshr'} (concat {a} {b}) ((_ zero_extend {width}) {count}))"
            high, low = (2 * width - 1, width) if name == "fshl" else (width - 1, 0)
            return self.t.define(width, f"((_ extract {high} {low}) {part})")
        if name == "abs":
            result = self.t.define(width, f"(ite (bvslt {a} (_ bv0 {width})) (bvneg {a}) {a})")
            least = f"(_ bv{1 << (width - 1)} {width})"
            if x[1].const:
                result = self.t.define(width, f"(ite (= {a} {least}) {self.t.fresh(width).text} {result.text})")
            return result
        if name in ("umin", "umax", "smin", "smax"):
            test = {"umin": "bvult", "umax": "bvugt", "smin": "bvslt", "smax": "bvsgt"}[name]
            return self.t.define(width, f"(ite ({test} {a} {b}) {a} {b})")
        if name == "usub.sat":
            return self.t.define(width, f"(ite (bvult {a} {b}) (_ bv0 {width}) (bvsub {a} {b}))")
        if name == "ctlz":
            result = f"(_ bv{width} {width})"
            for i in range(width):
                result = self.t.define(width, f"(ite (= ((_ extract {i} {i}) {a}) #b1) (_ bv{width - 1 - i} {width}) "
                                              f"{result if isinstance(result, str) else result.text})")
            return result
        if name == "fabs":
            return self.t.define(width, f"(bvand {a} (_ bv{(1 << (width - 1)) - 1} {width}))")
        raise Unknown(f"{self.f.name}: llvm.{name}")

    # ---- floating point ----

    SIZES = {64: "11 53", 32: "8 24"}

    def as_float(self, x):
        return f"((_ to_fp {self.SIZES[x.width]}) {x.text})"

    def from_float(self, text, width):
        """The bits of a number; those of a NaN are any bits of a NaN."""
        bits = self.t.fresh(width)
        self.t.require(f"(= {self.as_float(bits)} {text})")
        return bits

    def to_float(self, node, op, x, to):
        form = "to_fp_unsigned" if op == "uitofp" else "to_fp"
        width = width_of(to)
        return self.from_float(f"((_ {form} {self.SIZES[width]}) RNE {x.text})", width)

    def arithmetic(self, node, op, kind, a, b):
        width = width_of(kind)
        x, y = (self.as_float(self.get(v, width, node, kind)) for v in (a, b))
        form = {"fadd": "fp.add", "fsub": "fp.sub", "fmul": "fp.mul"}[op]
        return self.from_float(f"({form} RNE {x} {y})", width)

    def opposite(self, node, kind, a):
        width = width_of(kind)
        x = self.get(a, width, node, kind)
        return self.t.define(width, f"(bvxor {x.text} (_ bv{1 << (width - 1)} {width}))")

    def compare_floats(self, node, op, kind, a, b):
        x, y = (self.as_float(self.get(v, width_of(kind), node, kind)) for v in (a, b))
        nan = f"(or (fp.isNaN {x}) (fp.isNaN {y}))"
        if op in ("uno", "ord"):
            return self.t.define(1, nan if op == "uno" else f"(not {nan})")
        form = {"gt": "fp.gt", "ge": "fp.geq", "lt": "fp.lt", "le": "fp.leq", "eq": "fp.eq"}
        test = f"({form[op[1:]]} {x} {y})" if op[1:] in form else f"(not (fp.eq {x} {y}))"
        if op == "one":
            return self.t.define(1, f"(and (not {nan}) {test})")
        if op[0] == "u" and op != "une":
            return self.t.define(1, f"(or {nan} {test})")
        return self.t.define(1, test)

    PATTERNS = [
        (r"phi (%s) (.*)" % TYPE, phi),
        (r"(add|sub|mul|and|or|xor|shl|lshr|ashr|udiv|urem|sdiv|srem)((?: nuw| nsw| exact)*) (i\d+) (%s), (%s)"
         % (OPERAND, OPERAND), binary),
        (r"icmp (\w+) (i\d+) (%s), (%s)" % (OPERAND, OPERAND), compare),
        (r"select i1 (%s), (%s) (%s), %s (%s)" % (OPERAND, TYPE, OPERAND, TYPE, OPERAND), select),
        (r"(zext|sext|trunc|bitcast|uitofp|sitofp|fptrunc|fpext) (%s) (%s) to (%s)" % (TYPE, OPERAND, TYPE), convert),
        (r"(freeze) ((%s)) (%s)" % (TYPE, OPERAND), lambda s, n, op, kind, same, a: s.get(a, width_of(kind), n, kind)),
        (r"(?:tail |musttail |notail )?call (?:noundef )?(?:%s) @llvm\.([a-z.]+)\.(i\d+|f64|f32)\((.*)\)[^()]*" % TYPE,
         lambda s, n, name, kind, rest: s.intrinsic(n, name, {"f64": "double", "f32": "float"}.get(kind, kind), rest)),
        (r"(fadd|fsub|fmul) (%s) (%s), (%s)" % (TYPE, OPERAND, OPERAND), arithmetic),
        (r"fneg (%s) (%s)" % (TYPE, OPERAND), opposite),
        (r"fcmp (\w+) (%s) (%s), (%s)" % (TYPE, OPERAND, OPERAND), compare_floats),
    ]


class Goal:
    """The terms of a goal: `assumed` and `differ` are assertions, `inputs` the names of the parameters, `watched` the
    terms whose numbers a counterexample consists of (inputs, code, spec) with their widths."""

    def __init__(self, text):
        self.terms = Terms()
        self.terms.lines.append("(set-logic QF_BVFP)")
        self.functions = [Function(text, name) for name in ("assumed", "code", "spec")]
        values = []
        for i, (_, width) in enumerate(self.functions[0].params):
            self.terms.lines.append(f"(declare-const in{i} {sort(width)})")
            values.append(Value(width, None, f"in{i}"))
        assumed, code, spec = (Translation(self.terms, f, values) for f in self.functions)
        self.inputs = [v.text for v in values]
        self.assumed = f"(assert (distinct {assumed.result.text} (_ bv0 {assumed.result.width})))"
        self.differ = (f"(assert (or {assumed.runs_on.text} {code.runs_on.text} {spec.runs_on.text} "
                       f"(distinct {code.result.text} {spec.result.text})))")
        self.watched = {v.text: v.width for v in values + [code.result, spec.result]}
