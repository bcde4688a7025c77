"""Random functions over the state of a world, and random changes of that state."""

from __future__ import annotations

import random

from tests.stale.world import SOURCE

# expressions that read a number from the state
READS = (
    "G0", "G1 * 0.5", "A0[1]", "np.sum(A0)", "(A0 * 2.0)[0]", "A0.mean()", "A1[0] + 0.5",
    "A2[1, 0]",
    "np.linalg.norm(A2)", "BIG[-1] + 1.0", "VIEW[0]", "A0[INDEX].sum()", "len(L0) * 0.5", "L0[0]",
    "max(L0)", "sorted(L0)[0]", "sum(L0)", "D0['a']", "D0.get('z', 0.25)", "sum(D0.values())",
    "float('b' in D0) + 0.5", "NEST['layers'][1]['w'][0]",
    "sum(np.sum(layer['w']) for layer in NEST['layers'])", "PAIR[0][0] + float(PAIR[0] is PAIR[1])",
    "float(sum(k * 0.1 for k in SETS))", "QUEUE[0]", "RECORD['f0'][0] + 0.5", "DEFAULT['a']",
    "SPACE.rate", "settings.rate", "settings.table['k']", "getattr(settings, 'extra', 0.375)",
    "base.rate", "base.size", "base.twice", "base(0.5)", "base.m0(0.5)", "base.smethod(0.5)",
    "Base.cmethod(0.5)", "Base.rate", "Base.scale[0]", "type(base).rate", "getattr(base, NAME)",
    "getattr(base, 'extra', 0.5)", "float(hasattr(base, 'extra')) + 0.5", "base.__dict__['size']",
    "vars(base)['size']", "float(len(base.name))", "float(len(f'{base.name}{MODE}'))",
    "derived(0.5)", "derived.anything", "float(len(derived))", "float(derived == other) + 0.5",
    "float(base is other) + 0.5", "float(isinstance(base, Other)) + 0.5", "derived.size",
    "slotted.v", "slotted.w[0]", "config.factor", "config.parts[0]", "sum(config.parts)",
    "dataclasses.replace(config, factor=0.5).parts[0]", "plain.rate", "plain.m0(0.5)",
    "plain.m1(0.5)", "point.u", "point.v[0]", "point[1][0]", "h0(0.5)", "h1(0.5)",
    "h0(0.5, k=0.75)", "FS[0](0.5)", "FS[1](0.5)", "tagged(0.5)", "tagged.k", "bound(0.5)",
    "part(0.5)", "cell", "cells[0]", "Color.RED.value", "float(Color(1.5) is Color.RED) + 0.5",
    "operator.attrgetter('rate')(base)", "functools.reduce(operator.mul, L0)", "math.sqrt(abs(G1))",
    "[k * 2.0 for k in L0][-1]", "(lambda: G0)()", "next(iter(D0.values()))",
    "float(len('%s' % MODE))",
    "float(len(str(base.size)))", "float(MODE == 'double') + 0.5", "n * 0.5",
    "float(n is True) + 0.5",
    "cfg[0] * 0.5", "float(len(cfg))",
)  # fmt: skip

# of a world at rest, for the functions that others call
DEEP = (
    "G0", "G1", "A0[0]", "L0[0]", "D0['b']", "settings.rate", "SPACE.rate", "plain.rate",
    "Plain.rate", "NEST['layers'][0]['w'][0]", "config.factor", "slotted.v", "float(FLAG)",
)  # fmt: skip

# statements that leave something behind
STORES = (
    "COUNT['n'] += 1", "y = y + counted(0.25) * s", "LOG.append(1)", "LOG.append({k})",
    "base.n = base.n + 1", "y = y + base.bump() * s", "Base.total += 1", "type(base).total = 3",
    "A1[0] = {k}", "A1 += 1.0", "A1[:] = 2.0", "np.copyto(A1, 0.5)", "np.add(A1, 1.0, out=A1)",
    "SPACE.n += 1", "settings.n += 1", "settings.last = 2", "base.last = None",
    "D0['kept'] = [1.0]",
    "L0.append(L0.pop())", "L0[0] = L0[0]", "base.logged = 4", "QUEUE.rotate(1)",
    "DEFAULT['seen'] += 1", "NEST['on'] = not NEST['on']", "PAIR.reverse()",
    "config.parts = list(config.parts)", "setattr(base, NAME + '_set', 1)", "tagged.k = tagged.k",
    "slotted.w = [slotted.v]", "cells.append(1)", "VIEW[0] = 5.0; y = y + A0[1] * s; VIEW[0] = 2.0",
    "vars(base)['n'] = 7", "D0.update(a=D0['a'])", "base.__dict__.setdefault('kept', [])",
)  # fmt: skip

# statements that use a number of the state
USES = (
    "y = y + s * {k}", "y = y * (1.0 + 0.1 * {k})", "y = y + np.tanh(s * {k})",
    "if {k} > 1.2: y = y * 2.0", "y = y * 3.0 if {k} > {k} else y + s",
    "for _ in range(int(abs({k})) % 4): y = y + 0.5 * s", "y = y + np.sum(np.ones(2) * {k}) * s",
    "t = {k} * 2.0; y = y + t * s",
    "y = y + np.sum(x * A0[:np.size(x)]) if np.size(x) <= A0.size else y",
    "while y * 0.0 + {k} > 5.0: y = y + s; break", "y = y + sum([s * {k} for _ in range(2)])",
    "y = y + (lambda a: a * {k})(s)", "with scaled() as scale: y = y + s * scale",
    "y = y + np.where(A0 > {k}, A0, 0.0)[0] * s", "assert MODE, f'no mode for {{base}}'",
)  # fmt: skip

BLOCKS = (
    ["try:", "    y = y + s * base.extra", "except AttributeError:", "    y = y + s"],
    ["try:", "    y = y + s / {k}", "except ZeroDivisionError:", "    y = y * 2.0"],
    ["match base:", "    case Base(size=2.0): y = y + s", "    case Other(): y = y * 5.0"],
    ["match D0:", "    case {{'a': 1.0}}: y = y + s", "    case _: y = y * 5.0"],
    ["def inner(a):", "    return a * {k} + cell", "y = y + inner(s)"],
    ["class Local(Base):", "    rate = {k}", "y = y + Local(1.0)(s)"],
    ["for layer in NEST['layers']:", "    y = y + np.sum(layer['w']) * s"],
    ["local = Config()", "local.factor = {k}", "y = y + local.factor * s + local.parts[0]"],
)

NUMBERS = (
    "2.0",
    "3.0",
    "2",
    "True",
    "np.float64(2.0)",
    "-1.5",
    "0.0",
    "-0.0",
    "np.float32(3.0)",
    "6.5",
)

# changes of the state; {v} is a number
CHANGES = (
    "G0 = {v}", "G1 = {v}", "MODE = 'five'", "MODE = 'double'", "NAME = 'size'", "NAME = 'rate'",
    "FLAG = not FLAG", "A0[1] = {v}", "A0 = A0.copy()", "A0 = A0 * 2.0", "A0 = A0.astype('f4')",
    "A0 = np.array([1.0, 2.0, 3.0])", "A0 = np.array([1.0, 2.0, 3.0, 4.0])", "A2 = A2.T",
    "A2 = np.asfortranarray(A2)", "A2[1, 0] = {v}", "A1[:] = 0.0", "BIG[-1] = {v}",
    "BIG = BIG.copy()",
    "VIEW = A0[1:]", "VIEW = np.array([2.0, 3.0])", "VIEW = A0[1:].copy()", "INDEX[1] = 1",
    "L0[0] = {v}", "L0.append({v})", "L0[1:] = [2.5]", "L0.reverse()", "D0['a'] = {v}",
    "D0['z'] = {v}",
    "D0.pop('z', None)", "D0['b'] = D0.pop('b')", "NEST['layers'][1]['w'][0] = {v}",
    "NEST['layers'].append(dict(w=np.ones(2)))", "NEST['layers'][:] = NEST['layers'][:2]",
    "PAIR[1] = PAIR[0]", "PAIR[1] = [1.0]", "SETS = {{9, 2, 1}}", "SETS.add(17)", "QUEUE.rotate(1)",
    "RECORD['f0'][0] = {v}", "DEFAULT['a'] = {v}", "SPACE.rate = {v}", "settings.rate = {v}",
    "settings.table = dict(k={v})", "settings.extra = {v}", "vars(settings).pop('extra', None)",
    "base.rate = {v}", "vars(base).pop('rate', None)", "base.size = {v}", "base.extra = {v}",
    "vars(base).pop('extra', None)", "base.name = base.name + 'x'", "base = Base(2.0)",
    "base = other", "base.__class__ = Other", "base.__class__ = Base", "other = Base(1.0)",
    "other.size = derived.size", "Base.rate = {v}", "Base.scale[0] = {v}", "Base.scale = [{v}]",
    "Other.rate = {v}", "Derived.rate = {v}", "Base.m0 = lambda self, a: a * {v}",
    "Base.twice = property(lambda self: {v})", "Base.smethod = staticmethod(lambda a: a * {v})",
    "Base.__call__ = lambda self, a: a * {v}", "Derived.__len__ = lambda self: 7",
    "Derived.__eq__ = lambda self, other: True", "Base.extra = {v}",
    "Base.extra = None; del Base.extra",
    "Derived.__bases__ = (Other,)", "Derived.__bases__ = (Base,)", "derived.anything = {v}",
    "derived.size = {v}", "slotted.v = {v}", "slotted.w[0] = {v}", "config.factor = {v}",
    "config.parts[0] = {v}", "config = Config(config.factor, list(config.parts))",
    "plain.rate = {v}",
    "Plain.rate = {v}", "plain.extra = {v}", "vars(plain).pop('extra', None)",
    "point = Point({v}, [2.0])",
    "point.v[0] = {v}", "h0 = lambda a, k=0.5, j=1.0: a * {v}", "h0.__defaults__ = ({v},)",
    "h0.__kwdefaults__ = dict(j={v})", "h1 = lambda a: a * {v}",
    "h1.__code__ = (lambda a: a * 2.0).__code__", "FS[1] = lambda a: a * {v}", "FS.reverse()",
    "tagged.k = {v}", "bound = base.m0", "bound = other.m0", "part = functools.partial(h0, k={v})",
    "part.keywords['k'] = {v}", "set_cell({v})", "CELLS[0] = {v}", "Color.RED._value_ = {v}",
    "CFG[0] = 5", "CFG.append(3)", "CFG[:] = [1, 2]", "COUNT['n'] = 0", "LOG.clear()",
    "scaled = contextlib.contextmanager(lambda: iter([{v}]))",
    "math = types.SimpleNamespace(sqrt=abs)",
    "len = lambda a: 3", "max = lambda a: a[0]", "A0.flags.writeable = not A0.flags.writeable",
    "collections.deque", "Plain.m0 = Base.m0", "derived = Derived(3.0)", "PAIR[0] = [1.0]",
)  # fmt: skip

ARGUMENTS = (
    "(0.5,)", "(np.array([0.5, 1.5, 2.5]),)", "(np.float64(0.5),)", "(1.5, 3)", "(1.5, True)",
    "(1.5, 1, CFG)", "(np.array([0.5, 1.5]), 2, [1, 2])", "(np.array([[0.5, 1.5]]), 2)",
)  # fmt: skip


class Sequence:
    """One random function, and the random calls and changes that it goes through."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        body = self.body()
        deep = [self.rng.choice(DEEP) for _ in range(3)]
        source = SOURCE.replace("F_SOURCE", "\n".join("    " + line for line in body))
        for name, k in zip(("M0_BODY", "H0_BODY", "H1_BODY"), deep, strict=True):
            source = source.replace(name, f"a * self.size * {k}" if name == "M0_BODY" else k)
        self.source = source
        self.arguments = self.rng.choice(ARGUMENTS)
        self.exact = self.rng.random() < 0.5
        # a function is most often stale by what it reads: half of the changes are such
        self.near = [c for c in CHANGES if any(w in "\n".join(body) for w in _words(c))]

    def body(self) -> list[str]:
        """Return the lines of the function."""
        pick, lines = self.rng, []
        for _ in range(pick.randint(1, 5)):
            if pick.random() < 0.12:
                lines.append(self.filled(pick.choice(STORES)))
            elif pick.random() < 0.2:
                lines += [self.filled(line) for line in pick.choice(BLOCKS)]
            else:
                lines.append(self.filled(pick.choice(USES)))
        head = ["def f(x, n=2, cfg=(4, 5)):", "    s = np.sum(x)", "    y = s * 1.0"]
        return [*head, *("    " + line for line in lines), "    return y"]

    def filled(self, line: str) -> str:
        """Return a statement with an expression of the state in each gap."""
        while "{k}" in line:
            line = line.replace("{k}", f"({self.rng.choice(READS)})", 1)
        return line.replace("{{", "{").replace("}}", "}")

    def change(self) -> str:
        """Return the next change of the state, '' for none."""
        chance = self.rng.random()
        if chance < 0.4:
            return ""
        pool = self.near if chance < 0.85 and self.near else CHANGES
        line = self.rng.choice(pool)
        return line.format(v=self.rng.choice(NUMBERS))

    def next_arguments(self) -> str:
        """Return the arguments of the next call: most often those of the last one."""
        if self.rng.random() < 0.15:
            self.arguments = self.rng.choice(ARGUMENTS)
        return self.arguments


def _words(change: str) -> list[str]:
    head = change.replace("(", " ").replace("[", " ").replace(".", " ").replace("=", " ").split()
    return [head[0]] if head else []
