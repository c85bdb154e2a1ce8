"""What a server of the shop is told by its environment."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass

from sqlalchemy import Engine, create_engine


@dataclass(frozen=True, slots=True)
class Settings:
    """``SHOP_DATABASE``: a URL. ``SHOP_PROVIDER=1``: JSON by althaia's adapter of the framework.
    ``SHOP_COLLECTOR``: ``freeze``, or ``freeze:N`` with N as the threshold of generation 0."""

    database: str
    provider: bool
    collector: str

    @classmethod
    def read(cls) -> Settings:
        """The settings of this process; KeyError where no database is named."""
        return cls(
            database=os.environ["SHOP_DATABASE"],
            provider=os.environ.get("SHOP_PROVIDER") == "1",
            collector=os.environ.get("SHOP_COLLECTOR", ""),
        )

    def engine(self) -> Engine:
        return create_engine(self.database, pool_size=4, max_overflow=12)

    def set_collector(self) -> None:
        """Take what the application consists of out of the collector's sight, if asked to.

        To be called once the application stands: what is made later is collected as always.
        """
        if not self.collector:
            return
        gc.collect()
        gc.freeze()
        threshold = self.collector.partition(":")[2]
        if threshold:
            gc.set_threshold(int(threshold), 10, 10)
