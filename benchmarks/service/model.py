"""What is measured: variants of a server, requests, rows of the table."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from benchmarks.service.client import Request
from benchmarks.service.shop import data

NOTHING: Mapping[str, str] = MappingProxyType({})
ON = {"ALTHAIA_PATCH": "1", "ALTHAIA_REQUIRE_COMPILED": "1"}


class Missing(Exception):
    """Something was asked for that this installation does not have."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run the same application.

    ``needs`` names what has to be importable, as ``module`` or ``module:attribute``.
    """

    name: str
    label: str
    variables: Mapping[str, str]
    needs: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """What it needs and is not there, or None."""
        return missing(self.needs)


def missing(needs: tuple[str, ...]) -> str | None:
    """The first of ``needs`` that cannot be imported, or None."""
    for need in needs:
        name, _, attribute = need.partition(":")
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            return need
        if attribute and not hasattr(module, attribute):
            return need
    return None


UPSTREAM = Variant("upstream", "marshmallow", {"ALTHAIA_DISABLE": "1"})
UPSTREAM_FROZEN = Variant(
    "upstream-frozen",
    "marshmallow, frozen collector",
    {"ALTHAIA_DISABLE": "1", "SHOP_COLLECTOR": "freeze"},
)
SWITCH = Variant("switch", "switch only", ON)
SWITCH_FROZEN = Variant(
    "switch-frozen", "switch, frozen collector", {**ON, "SHOP_COLLECTOR": "freeze"}
)
_ADAPTERS = ("althaia.adapters.flask", "althaia.adapters.starlette")
PROVIDER = Variant("provider", "with provider", {**ON, "SHOP_PROVIDER": "1"}, _ADAPTERS)
FROZEN = Variant(
    "frozen",
    "provider, frozen collector",
    {**ON, "SHOP_PROVIDER": "1", "SHOP_COLLECTOR": "freeze"},
    _ADAPTERS,
)
THRESHOLD = Variant(
    "threshold",
    "provider, frozen, threshold 50,000",
    {**ON, "SHOP_PROVIDER": "1", "SHOP_COLLECTOR": "freeze:50000"},
    _ADAPTERS,
)
VARIANTS = {
    variant.name: variant
    for variant in (
        UPSTREAM, UPSTREAM_FROZEN, SWITCH, SWITCH_FROZEN, PROVIDER, FROZEN, THRESHOLD
    )
}  # fmt: skip


def is_upstream(name: str) -> bool:
    """Whether the variant of this name serves marshmallow as it is."""
    return name.startswith(UPSTREAM.name)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A request that is sent again and again. ``most`` bounds how often in one round."""

    name: str
    title: str
    request: Callable[[int], Request]
    most: int = 400
    needs: tuple[str, ...] = ()
    clients: int = 2


def get(path: str) -> Callable[[int], Request]:
    request = Request(path)
    return lambda number: request


def post(path: str, count: int | None) -> Callable[[int], Request]:
    orders = data.new_orders(count or 1)
    body = json.dumps(orders if count else orders[0]).encode()
    request = Request(path, "POST", body, 201)
    return lambda number: request


STREAM = ("althaia:stream",)


def endpoints(size: data.Size) -> dict[str, Endpoint]:
    """All endpoints by name, for a shop of that ``size``."""
    most, flat = size.orders, min(1_000, size.movements)
    some = min(1_000, most)
    export = size.movements
    listed = (
        Endpoint("page", "a page of 50 orders", get("/orders?limit=50")),
        Endpoint("orders", f"{some:,} orders", get(f"/orders?limit={some}")),
        Endpoint("all", f"all {most:,} orders", get(f"/orders?limit={most}"), 2, clients=1),
        Endpoint("one", "one order", lambda n: Request(f"/orders/{1 + n % most}")),
        Endpoint("post", "POST of one order", post("/orders", None)),
        Endpoint("bulk", "POST of 500 orders", post("/orders/bulk", 500), 20),
        Endpoint("entities", f"{flat:,} flat records, entities", get(f"/movements?limit={flat}")),
        Endpoint("rows", f"{flat:,} flat records, rows", get(f"/movements/rows?limit={flat}")),
        Endpoint(
            "text",
            f"{flat:,} flat rows straight to JSON",
            get(f"/movements/text?limit={flat}"),
        ),
        Endpoint(
            "export", f"{export:,} rows at once", get(f"/export/text?limit={export}"), 1, clients=1
        ),
        Endpoint(
            "stream",
            f"{export:,} rows streamed",
            get(f"/export/stream?limit={export}"),
            1,
            STREAM,
            clients=1,
        ),
    )
    return {endpoint.name: endpoint for endpoint in listed}


@dataclass(frozen=True, slots=True)
class Row:
    """An endpoint against another one, or itself, on upstream; what each variant is to reach.

    ``reach`` holds ratios of processor time per request, by the variant's name.
    """

    endpoint: str
    against: str
    reach: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def name(self) -> str:
        return self.endpoint if self.endpoint == self.against else f"{self.endpoint}/{self.against}"


ROWS = (
    Row("page", "page", {"switch": 1.65}),
    Row("orders", "orders", {"switch": 1.65, "provider": 1.85, "frozen": 2.3}),
    Row("all", "all", {"switch": 1.5}),
    Row("one", "one", {"switch": 1.0}),
    Row("post", "post", {"switch": 1.0}),
    Row("bulk", "bulk", {"switch": 2.6}),
    Row("entities", "entities"),
    Row("rows", "rows", {"switch": 1.8}),
    Row("text", "rows", {"switch": 2.7}),
    Row("text", "entities", {"switch": 5.0}),
    Row("export", "export"),
    Row("stream", "export"),
)
REACH_FIRST_BYTE = 0.050
"""Seconds to the first byte of the streamed rows."""
