"""Frozen values with named fields.

``Record`` is what ``dataclass(frozen=True)`` would be, at a fraction of its import: the drain runs at every
turn of every session, and ``dataclasses`` alone costs as much as starting Python. mypy reads the base class
through ``dataclass_transform`` and checks constructors as it does for a dataclass.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self, dataclass_transform
else:

    def dataclass_transform(**_options):
        """Nothing at run time: the real one would load ``typing``."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Record:
    """A value: equal by its fields, never changed after it was made.

    A subclass annotates its fields in order; a field with a default stands in the class body. Fields are
    given by position or by name; a missing or an unknown one raises ``TypeError``.
    """

    _fields: "tuple[str, ...]" = ()

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if not name.startswith("_")]  # this class's, never its base's
        cls._fields = (*cls._fields, *own)

    def __init__(self, *values: object, **named: object) -> None:
        fields = self._fields
        state = self.__dict__
        if len(values) > len(fields):
            raise TypeError(f"{type(self).__name__} takes {len(fields)} fields, {len(values)} given")
        state.update(zip(fields, values, strict=False))
        for name, value in named.items():
            if name in state or name not in fields:
                raise TypeError(f"{type(self).__name__}: field {name!r} is unknown or given twice")
            state[name] = value
        if len(state) < len(fields):
            for name in fields:
                if name not in state and not hasattr(type(self), name):
                    raise TypeError(f"{type(self).__name__}: field {name!r} is missing")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def values(self) -> "dict[str, object]":
        """Every field by name, in the order of their declaration."""
        return {name: getattr(self, name) for name in self._fields}

    def replace(self, **changes: object) -> "Self":
        """A copy with these fields changed."""
        return type(self)(**{**self.values(), **changes})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.values().values())))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{type(self).__name__}({shown})"
