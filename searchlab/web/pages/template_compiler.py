"""Jinja's compiler of templates, with shorter code for what pages do most: outputs, calls, and values of dicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import StringIO
from typing import Any

from jinja2 import Environment
from jinja2.compiler import CodeGenerator, Frame, MacroRef
from jinja2.nodes import Call, Expr, Getattr, Name
from jinja2.runtime import Macro
from markupsafe import Markup, escape

_DICT_ATTRIBUTES = frozenset(dir(dict))
# The variable of generated code that holds the value before a dot, if it is more than a name.
_VALUE = "_value"
_LOOP = "loop"
# Makes a `Markup` of HTML: in a third of the time that `Markup(html)` takes, which also accepts other types.
as_markup: Callable[[str], Markup] = partial(str.__new__, Markup)


def is_special(text: str) -> bool:
    """Whether a text has characters that are escaped in HTML."""
    # This takes as long as one regular expression in short texts, a tenth in long ones.
    return "&" in text or "<" in text or ">" in text or '"' in text or "'" in text


def escape_output(value: Any) -> str:
    """A value as HTML."""
    kind = type(value)
    if kind is Markup:
        safe: str = value
        return safe
    if kind is str:
        return escape(value) if is_special(value) else value
    return str(value) if kind is int else escape(value)


class DirectMacro(Macro):
    """A macro of a template that escapes; called with positional arguments, it examines nothing else."""

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        """The output of the macro."""
        if kwargs or self.caller or self.catch_varargs or len(args) != self._argument_count:
            return super().__call__(*args, **kwargs)
        return as_markup(self._func(*args))


class TemplateCode(CodeGenerator):
    """Jinja's compiler of templates, whose code does less.

    Templates and blocks gather what they output in a list: Jinja hands each piece through all levels of inheritance by
    a `yield`. What is output is escaped by `escape_output`. Functions are called directly: Jinja would examine each
    time whether the function asks for the context, which none of ours does.
    """

    def enter_frame(self, frame: Frame) -> None:
        """Begin a list of outputs, too, if a template or block begins."""
        super().enter_frame(frame)
        if _is_outermost(frame):
            self.buffer(frame)

    def leave_frame(self, frame: Frame, with_python_scope: bool = False) -> None:
        """Output the list, too, if a template or block ends."""
        super().leave_frame(frame, with_python_scope)
        if _is_outermost(frame):
            self.writeline(f"yield concat({frame.buffer})")

    def macro_def(self, macro_ref: MacroRef, frame: Frame) -> None:
        """Write the definition of a macro: as `DirectMacro`."""
        self.write("environment.direct_macro")
        definition = self._written(lambda: super(TemplateCode, self).macro_def(macro_ref, frame))
        self.write(definition.removeprefix(Macro.__name__))

    def _output_child_pre(self, node: Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.escape_output(")

    def visit_Call(self, node: Call, frame: Frame, forward_caller: bool = False) -> None:  # noqa: N802
        """Write a call: `function(arguments)`."""
        self.visit(node.node, frame)
        more = {"caller": "caller"} if forward_caller else None
        arguments = self._written(lambda: self.signature(node, frame, more))
        self.write(f"({arguments.removeprefix(', ')})")

    def visit_Getattr(self, node: Getattr, frame: Frame) -> None:  # noqa: N802
        """Write an attribute: the value with this key if it is of a dict, as most variables are."""
        if isinstance(node.node, Name) and node.node.name == _LOOP:
            self.write(f"{frame.symbols.ref(_LOOP)}.{node.attr}")
            return
        if node.attr in _DICT_ATTRIBUTES:
            super().visit_Getattr(node, frame)
            return
        key = repr(node.attr)
        if isinstance(node.node, Name):
            value = frame.symbols.ref(node.node.name)
            self.write(f"({value}[{key}] if type({value}) is dict and {key} in {value} else ")
            super().visit_Getattr(node, frame)
            self.write(")")
            return
        self.write(f"({_VALUE}[{key}] if type({_VALUE} := ")
        self.visit(node.node, frame)
        self.write(f") is dict and {key} in {_VALUE} else environment.getattr({_VALUE}, {key}))")

    def _written(self, write: Callable[[], object]) -> str:
        """What a method writes."""
        stream, self.stream = self.stream, StringIO()
        try:
            write()
            return self.stream.getvalue()
        finally:
            self.stream = stream


def _is_outermost(frame: Frame) -> bool:
    return (frame.rootlevel or frame.block_frame) and not frame.soft_frame


class TemplateEnvironment(Environment):
    """Jinja's environment, with shortcuts to the values of dicts, which most variables of templates are, and past the
    escaping of texts that need none, which most of the 400 outputs of a page are.
    """

    code_generator_class = TemplateCode
    escape_output = staticmethod(escape_output)
    direct_macro = DirectMacro

    def getattr(self, obj: Any, attribute: str) -> Any:
        """What Jinja finds: an attribute, or else the value with this key."""
        if type(obj) is dict and attribute not in _DICT_ATTRIBUTES:
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        try:
            return getattr(obj, attribute)
        except AttributeError:
            return super().getattr(obj, attribute)
