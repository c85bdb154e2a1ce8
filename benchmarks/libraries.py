"""Who takes part: each library, what has to be installed for it, and how it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Library:
    """One contestant.

    ``runner`` is its module in ``benchmarks.runners``. ``requirements`` go into an
    environment of its own; ``None`` means the environment that runs the benchmarks. A
    ``drop_in`` runs the cases' own schemas and must give upstream's output to the last key;
    the others have schemas in their own language and may order keys as they like.
    """

    name: str
    label: str
    runner: str
    requirements: tuple[str, ...] | None
    drop_in: bool = True
    variables: Mapping[str, str] = field(default_factory=lambda: NO_VARIABLES)


UPSTREAM = Library("upstream", "marshmallow", "upstream", None)
# Uncompiled, it would be measured all the same, and shown as what it is not.
COMPILED = MappingProxyType({"ALTHAIA_REQUIRE_COMPILED": "1"})
OURS = Library("althaia", "althaia", "ours", None, variables=COMPILED)
HAND_WRITTEN = Library("hand-written", "hand-written Python", "handwritten", None, drop_in=False)
NO_PLANS = Library(
    "no-plans",
    "althaia, ALTHAIA_PLANS=0",
    "ours",
    None,
    variables={**COMPILED, "ALTHAIA_PLANS": "0"},
)
PREDECESSOR = Library("althaia-4.3.0", "althaia 4.3.0", "predecessor", ("althaia==4.3.0",))
DEEP_FRIED = Library(
    "deepfried",
    "DeepFriedMarshmallow",
    "deepfried",
    ("DeepFriedMarshmallow==1.1.2", "marshmallow==4.4.0"),
)
PYDANTIC = Library("pydantic", "pydantic", "pydantic_models", ("pydantic==2.14.3",), drop_in=False)
MSGSPEC = Library("msgspec", "msgspec", "msgspec_structs", ("msgspec==0.22.0",), drop_in=False)
CATTRS = Library(
    "cattrs", "attrs + cattrs", "attrs_classes", ("attrs==26.1.0", "cattrs==26.2.1"), drop_in=False
)
MASHUMARO = Library(
    "mashumaro", "mashumaro", "mashumaro_classes", ("mashumaro==3.23",), drop_in=False
)
RECIPE = Library(
    "recipe",
    "marshmallow-recipe",
    "recipe_classes",
    (
        "marshmallow-recipe==0.0.103; python_version >= '3.12'",
        # The last one for older Pythons; it has no Rust part.
        "marshmallow-recipe==0.0.64; python_version < '3.12'",
    ),
    drop_in=False,
)
# The dictionaries are ours; they are installed by the extra "bench".
ORJSON = Library(
    "orjson",
    "althaia, then orjson",
    "encoders",
    None,
    drop_in=False,
    variables={**COMPILED, "BENCHMARK_ENCODER": "orjson"},
)
MSGSPEC_ENCODER = Library(
    "msgspec-encoder",
    "althaia, then msgspec.json",
    "encoders",
    None,
    drop_in=False,
    variables={**COMPILED, "BENCHMARK_ENCODER": "msgspec"},
)

USUAL = (UPSTREAM, OURS, HAND_WRITTEN)
PEERS = (
    *USUAL,
    NO_PLANS,
    PREDECESSOR,
    DEEP_FRIED,
    PYDANTIC,
    MSGSPEC,
    CATTRS,
    MASHUMARO,
    RECIPE,
    ORJSON,
    MSGSPEC_ENCODER,
)
