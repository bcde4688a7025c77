"""The faults that are tried on an expression."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

Change = tuple[str, ast.expr]

OTHER_FUNCTION = {
    "sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "exp": "expm1", "exp2": "exp",
    "tril": "triu", "triu": "tril", "real": "imag", "imag": "real", "maximum": "minimum",
    "minimum": "maximum", "max": "min", "min": "max", "greater": "less", "less": "greater",
    "greater_equal": "less_equal", "less_equal": "greater_equal", "equal": "not_equal",
    "floor": "ceil", "ones": "zeros", "ones_like": "zeros_like", "fft": "ifft", "ifft": "fft",
    "column": "row", "row": "column", "logical_and": "logical_or", "scatter": "place",
}  # fmt: skip
# Functions whose first operand may stand for the whole.
DROPPED = {
    "conj", "conjugate", "t", "h", "transpose", "swapaxes", "moveaxis", "unbroadcast", "flip",
    "fold", "reshape", "broadcast_to", "expand_dims", "restore", "spread", "fitted",
    "logical_and", "logical_not", "tril", "triu", "cumsum", "roll", "sum", "masked", "take",
    "take_along_axis", "through_nan", "clip", "mod", "abs", "absolute", "sign", "sqrt", "inverse",
}  # fmt: skip
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip
OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt,
    ast.GtE: ast.LtE, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SWAPPED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow)


def changes_of(node: ast.expr, parent: ast.AST) -> Iterator[Change]:
    """Yield what an expression may be turned into, each with a description."""
    for other in others_of(node, parent):
        yield f"{ast.unparse(node)} -> {ast.unparse(other)}", other


def others_of(node: ast.expr, parent: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp() if not is_zero(node.left) and not is_zero(node.right):
            yield from of_product(node)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield operand
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Call():
            yield from of_call(node)
        case ast.Compare(ops=[op]) if type(op) in OTHER_COMPARISON:
            yield ast.Compare(node.left, [OTHER_COMPARISON[type(op)]()], node.comparators)
        case ast.IfExp():
            yield from of_choice(node)
        case ast.Constant(value=float(value)) if isinstance(parent, ast.BinOp):
            yield ast.Constant(value + 1.0)


def of_choice(node: ast.IfExp) -> Iterator[ast.expr]:
    """Yield either side, but for one that is only the dearer way to the same numbers."""
    test = ast.unparse(node.test)
    if "is_complex" not in test:
        yield node.body
    if not test.endswith("is True"):
        yield node.orelse


def is_zero(node: ast.expr) -> bool:
    """Tell whether an operand is a zero that only lends its type and shape."""
    return isinstance(node, ast.Constant) and node.value == 0


def of_product(node: ast.BinOp) -> Iterator[ast.expr]:
    """Yield another operator, either operand alone, and the operands swapped."""
    other = OTHER_OPERATOR.get(type(node.op))
    if other is not None:
        yield ast.BinOp(node.left, other(), node.right)
    if not isinstance(node.left, ast.Constant | ast.Tuple):
        yield node.left
    if not isinstance(node.right, ast.Constant | ast.Tuple) and not isinstance(node.op, ast.Pow):
        yield node.right
    if isinstance(node.op, SWAPPED):
        yield ast.BinOp(node.right, node.op, node.left)


def of_call(node: ast.Call) -> Iterator[ast.expr]:
    """Yield another function, an operand alone, other operands, options turned round."""
    name = name_of(node.func)
    if name in OTHER_FUNCTION:
        func = copy.deepcopy(node.func)
        if isinstance(func, ast.Attribute):
            func.attr = OTHER_FUNCTION[name]
        elif isinstance(func, ast.Name):
            func.id = OTHER_FUNCTION[name]
        yield ast.Call(func, node.args, node.keywords)
    if name in DROPPED and node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]
    if name == "where" and len(node.args) == 3:
        yield from node.args[1:]
    if name in ("subtract", "divide", "cross", "tensordot", "solve"):
        yield from swapped_neighbours(node)
    for k, keyword in enumerate(node.keywords):
        value = getattr(keyword.value, "value", None)
        if isinstance(value, bool) and keyword.arg != "strict":
            turned = ast.keyword(keyword.arg, ast.Constant(not value))
            yield ast.Call(
                node.func, node.args, [*node.keywords[:k], turned, *node.keywords[k + 1 :]]
            )


def swapped_neighbours(node: ast.Call) -> Iterator[ast.expr]:
    for k in range(len(node.args) - 1):
        args = list(node.args)
        args[k], args[k + 1] = args[k + 1], args[k]
        if ast.dump(args[k]) != ast.dump(args[k + 1]):
            yield ast.Call(node.func, args, node.keywords)


def name_of(func: ast.expr) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""
