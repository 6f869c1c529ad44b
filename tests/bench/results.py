"""The figures of one run, and the file that keeps them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench.contention import Rate
from tests.bench.measure import Measured
from tests.bench.memory import Peak

PLACE = Path(__file__).parent / "results"


class Results(NamedTuple):
    """One run: what it was made with, and every sample."""

    facts: dict[str, object]
    measured: Sequence[Measured]
    memory: Sequence[Peak] = ()
    rates: Sequence[Rate] = ()
    peers: Sequence[Measured] = ()
    tools: dict[str, str] = {}


def store(results: Results) -> Path:
    """Keep a run under its date; a second one of the same day takes its place."""
    path = PLACE / f"{results.facts['date']}.json"
    PLACE.mkdir(exist_ok=True)
    path.write_text(dumps(results), encoding="utf-8")
    return path


def dumps(results: Results) -> str:
    """The file's text: the samples of a case on one line."""
    lists = {
        name: [one._asdict() for one in getattr(results, name)] for name in ("measured", "memory", "rates", "peers")
    }
    parts = [f'"facts": {json.dumps(results.facts, indent=1)}', f'"tools": {json.dumps(results.tools, indent=1)}']
    for name, rows in lists.items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in rows)
        parts.append(f'"{name}": [\n{lines}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def loads(text: str) -> Results:
    """The run in a file's text."""
    found: dict[str, Any] = json.loads(text)
    measured, peers = (
        [Measured(**one)._replace(wall=tuple(one["wall"]), processor=tuple(one["processor"])) for one in found[name]]
        for name in ("measured", "peers")
    )
    memory, rates = [Peak(**one) for one in found["memory"]], [Rate(**one) for one in found["rates"]]
    return Results(found["facts"], measured, memory, rates, peers, found["tools"])


def newest() -> Results | None:
    """The newest run that is kept, or ``None``."""
    paths = sorted(PLACE.glob("*.json"))
    return loads(paths[-1].read_text(encoding="utf-8")) if paths else None
