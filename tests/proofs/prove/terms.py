"""terms.py - a script of SMT-LIB as it is built: values with known or unknown bits, definitions, choices."""


class Value:
    """A term of `width` bits (1: a Boolean); `const` is its number where it is known."""

    __slots__ = ("width", "const", "text")

    def __init__(self, width, const=None, text=None):
        self.width, self.const = width, const
        if const is not None:
            self.const = const & ((1 << width) - 1)
            text = ("true" if self.const else "false") if width == 1 else f"(_ bv{self.const} {width})"
        self.text = text


def sort(width):
    return "Bool" if width == 1 else f"(_ BitVec {width})"


class Terms:
    """The lines of a script: declarations, definitions and assertions."""

    def __init__(self):
        self.lines, self.count = [], 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def define(self, width, text):
        name = self.name()
        self.lines.append(f"(define-fun {name} () {sort(width)} {text})")
        return Value(width, None, name)

    def fresh(self, width):
        name = self.name()
        self.lines.append(f"(declare-const {name} {sort(width)})")
        return Value(width, None, name)

    def require(self, text):
        self.lines.append(f"(assert {text})")

    # ---- Booleans ----

    def negate(self, a):
        if a.const is not None:
            return Value(1, 1 - a.const)
        return self.define(1, f"(not {a.text})")

    def both(self, a, b):
        if a.const is not None:
            return b if a.const else a
        if b.const is not None:
            return a if b.const else b
        return self.define(1, f"(and {a.text} {b.text})")

    def either(self, a, b):
        if a.const is not None:
            return a if a.const else b
        if b.const is not None:
            return b if b.const else a
        return self.define(1, f"(or {a.text} {b.text})")

    def choose(self, c, a, b):
        if c.const is not None:
            return a if c.const else b
        if a.text == b.text:
            return a
        return self.define(a.width, f"(ite {c.text} {a.text} {b.text})")
