"""A tape on the bench: ops are exchanged in place, and a new tape is made at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from yota.passes.purity import is_pure
from yota.passes.rewrite import Rewrite
from yota.tape import (
    Call,
    Constant,
    Input,
    Op,
    Origin,
    Spec,
    Structured,
    Tape,
    Var,
    map_vars,
    spec_of,
)


class Work:
    """The ops of a tape with their users, while forms change some and add others.

    `pinned` are the vars whose bits decide which way the program goes: an inexact form leaves them
    alone.
    """

    def __init__(self, tape: Tape, pinned: set[Var]) -> None:
        self.tape, self.pinned = tape, pinned
        self.ops: dict[Var, Op] = dict(tape.ops)
        self.users: dict[Var, dict[Var, int]] = {v: {} for v in tape.ops}
        self.by_fn: dict[Any, dict[Var, None]] = {}
        self.before: dict[Var, list[Var]] = {}
        self.after: dict[Var, list[Var]] = {}
        self.ahead: list[Var] = []
        self.behind: list[Var] = []
        self.handed: dict[Var, Var] = {}
        self.why: dict[Var, str] = {}
        self.inside: dict[Var, tuple[Var, str]] = {}
        self.merged: dict[Var, tuple[Var, str]] = {}
        self.stacks: dict[tuple[Var, ...], Var] = {}
        self.turned: dict[Var, Var] = {}
        self.next_id = tape.next_id
        self.changes = 0
        self.arranged: list[Var] = []
        # where each op runs, and how far the next one to either side may be
        self.rank: dict[Var, tuple[float, float]] = {
            v: (float(k), 1.0) for k, v in enumerate(tape.ops)
        }
        self.kept = {*tape.outputs, *(g.var for g in tape.guards)}
        for var, op in tape:
            self.enter(var, op)

    def enter(self, var: Var, op: Op) -> None:
        """Note an op under its function and with its operands."""
        if not isinstance(op, Call):
            return
        for operand in op.operands:
            users = self.users[operand]
            users[var] = users.get(var, 0) + 1
        if _is_hashable(op.fn):
            self.by_fn.setdefault(op.fn, {})[var] = None

    def leave(self, var: Var) -> None:
        """Forget an op's function and operands; what nobody reads then is forgotten too."""
        op = self.ops[var]
        if not isinstance(op, Call):
            return
        if _is_hashable(op.fn):
            self.by_fn[op.fn].pop(var, None)
        for operand in op.operands:
            self.users[operand].pop(var, None)

    # questions

    def calls(self, *fns: Callable[..., Any]) -> list[tuple[Var, Call]]:
        """Return the calls of these functions, in order of their numbers."""
        found = sorted(v for fn in fns for v in self.by_fn.get(fn, ()))
        return [(v, op) for v in found if isinstance(op := self.ops[v], Call)]

    def call_of(self, x: Any, *fns: Any) -> Call | None:
        """Return the op of a var if it is a call of one of these functions."""
        op = self.ops[x] if type(x) is Var else None
        return op if type(op) is Call and op.fn in fns else None

    def spec(self, x: Any) -> Spec | None:
        """Return the type of a var, None for a literal."""
        return self.ops[x].spec if type(x) is Var else None

    def is_free(self, *vars_: Var) -> bool:
        """Tell whether these may be computed in another way."""
        return not any(v in self.pinned for v in vars_)

    def only_user(self, var: Var) -> Var | None:
        """Return the one op that reads a var, once; None if there are more or it is handed out."""
        if len(self.users[var]) != 1 or var in self.kept:
            return None
        ((user, count),) = self.users[var].items()
        return user if count == 1 else None

    # changes

    def change(self, var: Var, op: Call, why: str) -> None:
        """Let another call give the value of `var`."""
        self.changes += 1
        self.leave(var)
        self.ops[var] = op
        self.remark(var, why)
        self.enter(var, op)

    def exchange(self, var: Var, why: str, fn: Any, *args: Any, **kwargs: Any) -> None:
        """Let another function of other operands give the value of `var`."""
        old = self.ops[var]
        call = Call(
            spec=old.spec, origin=old.origin, fn=fn, args=args, kwargs=tuple(kwargs.items())
        )
        self.change(var, call, why)

    def add(self, at: Var, op: Op) -> Var:
        """Put an op under a fresh number in front of `at`."""
        var = Var(self.next_id)
        self.next_id += 1
        self.ops[var] = op
        self.users[var] = {}
        self.before.setdefault(at, []).append(var)
        place, room = self.rank[at]
        self.rank[var] = (place - room / 2, room / 2)
        self.enter(var, op)
        return var

    def place(self, var: Var) -> tuple[float, Var]:
        """Return a number that is greater the later an op runs."""
        return self.rank.get(var, (-1.0, 0.0))[0], var

    def call(self, at: Var, spec: Spec, fn: Any, *args: Any, **kwargs: Any) -> Var:
        """Put a call under a fresh number in front of `at`, with the origin of `at`."""
        call = Call(
            spec=spec,
            origin=self.ops[at].origin,
            fn=fn,
            args=args,
            kwargs=tuple(kwargs.items()),
        )
        return self.add(at, call)

    def call_behind(self, at: Var, spec: Spec, fn: Any, *args: Any, **kwargs: Any) -> Var:
        """Put a call behind the last of its operands, with the origin of `at`."""
        var = self.call(at, spec, fn, *args, **kwargs)
        self.before[at].remove(var)
        op = self.ops[var]
        last = max(op.operands if isinstance(op, Call) else (), key=self.place)
        # fresh ops that stand there already may be its operands, or read none of it
        self.after.setdefault(last, []).append(var)
        place, room = self.rank.get(last, (-1.0, 1.0))
        self.rank[var] = (place + room / 2, room / 2)
        return var

    def constant(self, value: Any, origin: Origin) -> Var:
        """Put a constant under a fresh number in front of all calls."""
        var = Var(self.next_id)
        self.next_id += 1
        self.ops[var] = Constant(spec=spec_of(value), origin=origin, value=value)
        self.users[var] = {}
        self.ahead.append(var)
        return var

    def append(self, spec: Spec, fn: Any, *args: Any) -> Var:
        """Put a call under a fresh number behind all others, with the origin of its operand."""
        origin = self.ops[args[0]].origin
        var = Var(self.next_id)
        self.next_id += 1
        self.ops[var], self.users[var] = Call(spec=spec, origin=origin, fn=fn, args=args), {}
        self.behind.append(var)
        self.enter(var, self.ops[var])
        return var

    def reread(self, user: Var, old: Var, new: Var) -> None:
        """Let one op read `new` for `old`, which has the same value."""
        op = self.ops[user]
        if not isinstance(op, Call):
            raise TypeError(op)
        self.changes += 1
        self.leave(user)
        args = map_vars(op.args, lambda v: new if v == old else v)
        kwargs = tuple((k, map_vars(x, lambda v: new if v == old else v)) for k, x in op.kwargs)
        self.ops[user] = replace(op, args=args, kwargs=kwargs)
        self.enter(user, self.ops[user])

    def hand_out(self, old: Var, new: Var) -> None:
        """Hand `new` to the caller, where he gets a number of NumPy's, for `old`."""
        self.handed[old] = new
        self.kept.add(new)

    def swallow(self, var: Var, into: Var, why: str) -> None:
        """Say that `var` is computed inside `into`, if nobody else needs it."""
        self.inside.setdefault(var, (into, why))

    def merge(self, var: Var, into: Var, why: str) -> None:
        """Say that `into` has the value of `var`, if nobody else needs `var` itself."""
        self.merged[var] = (into, why)

    def put(self, var: Var, into: Var, why: str) -> None:
        """Let `into` take the place of `var` everywhere."""
        for user in list(self.users[var]):
            self.reread(user, var, into)
        if var in self.kept:
            self.changes += 1
            self.kept.discard(var)
            self.kept.add(into)
        self.merge(var, into, why)

    def is_dead(self, var: Var) -> bool:
        """Tell whether nobody reads a var that nobody is handed."""
        op = self.ops[var]
        return not (
            self.users[var] or var in self.kept or not isinstance(op, Call) or not is_pure(op.fn)
        )

    def bury(self, var: Var) -> None:
        """Forget an op that nobody reads, and what only it read."""
        stack = [var]
        while stack:
            dead = stack.pop()
            if self.is_dead(dead) and dead in self.ops:
                op = self.ops[dead]
                self.leave(dead)
                self.ops[dead] = replace(op, args=(), kwargs=())  # type: ignore[call-arg]
                stack += dict.fromkeys(op.operands) if isinstance(op, Call) else ()

    def remark(self, var: Var, why: str) -> None:
        """Say of an op something that changes nothing about it."""
        self.why[var] = f"{self.why[var]}; {why}" if var in self.why else why

    def arrange(self, order: list[Var]) -> None:
        """Let all ops run in this order; no op may be added behind that."""
        self.arranged = order

    # the end

    def order(self) -> Iterator[Var]:
        """Yield all vars, each fresh one in front of the op that it was made for."""
        if self.arranged:
            yield from self.arranged
            return
        ahead = self.ahead
        for var in (*self.tape.ops, *self.behind):
            if ahead and isinstance(self.ops[var], Call):
                yield from ahead
                ahead = []
            if var in self.before or var in self.after:
                yield from self._with_fresh(var)
            else:
                yield var

    def _with_fresh(self, var: Var) -> Iterator[Var]:
        """Yield a var between the fresh ones in front of it and those behind it."""
        stack = [(var, False)]
        while stack:
            top, is_open = stack.pop()
            if is_open:
                yield top
                stack += [(v, False) for v in reversed(self.after.get(top, ()))]
            else:
                stack.append((top, True))
                stack += [(v, False) for v in reversed(self.before.get(top, ()))]

    def done(self, stage: str) -> Tape:
        """Return the new tape; what is no longer needed is left out."""
        order = list(self.order())
        live = self.live(order)
        new = Rewrite(self.tape, stage)
        for var in order:
            if var in live:
                self.emit(new, var)
            elif var in self.tape.ops:
                self.leave_out(new, var, live)
        new.tape.next_id = self.next_id
        tape = new.done()
        if self.handed:
            tape.result = self.renamed(tape.result)
            tape.gradients = tape.gradients and tuple(map(self.renamed, tape.gradients))
        return tape

    def renamed(self, tree: Any) -> Any:
        """Return a result or gradient with what is handed out in other vars' places."""
        if not isinstance(tree, Structured):
            return tree
        pairs = zip(tree.leaves, tree.kinds, strict=True)
        return replace(tree, leaves=tuple(self.handed_for(v, kind) for v, kind in pairs))

    def handed_for(self, leaf: Any, kind: str) -> Any:
        """Return what is handed out for a leaf of a result."""
        number = type(leaf) is Var and kind in ("", "scalar")
        return self.handed.get(leaf, leaf) if number else leaf

    def positions(self) -> dict[Var, int]:
        """Return the place of each op in the order in which they run."""
        return {v: k for k, v in enumerate(self.order())}

    def emit(self, new: Rewrite, var: Var) -> None:
        """Put one op on the new tape."""
        if var not in self.tape.ops:
            new.tape.push(self.ops[var], var)
        elif var in self.why:
            new.change(var, self.ops[var], self.why[var])
        else:
            new.keep(var, self.ops[var])

    def leave_out(self, new: Rewrite, var: Var, live: set[Var]) -> None:
        """Record what became of an op that is not on the new tape."""
        into, why = self.inside.get(var, (None, ""))
        if var in self.merged and self.merged[var][0] in live:
            new.put(var, *self.merged[var])
        elif into in live:
            new.note("inside", var, into, why, None)
        else:
            new.drop(var, "not needed by any result")

    def live(self, order: list[Var]) -> set[Var]:
        """Return what results, gradients, guards and impure calls need, and the inputs."""
        live = set(self.kept)
        for var in reversed(order):
            op = self.ops[var]
            if isinstance(op, Input) or (isinstance(op, Call) and not is_pure(op.fn)):
                live.add(var)
            if var in live and isinstance(op, Call):
                live.update(op.operands)
        return live


def _is_hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True
