"""The flat record as Django models. Imported only by the case that needs it."""

from __future__ import annotations

from typing import Any

import django
from django.apps import apps
from django.conf import settings

from benchmarks import data

if not settings.configured:
    settings.configure()
if not apps.ready:
    django.setup()

# After the set-up: modules that define models cannot be imported before it.
from django.db import models


class FlatModel(models.Model):  # type: ignore[misc]
    """One flat record; only ever an object, without a table."""

    class Meta:
        app_label = "benchmarks"

    number = models.IntegerField(primary_key=True)
    title = models.TextField()
    ratio = models.FloatField()
    active = models.BooleanField()
    created = models.DateTimeField()
    day = models.DateField()
    at = models.TimeField()
    key = models.UUIDField()
    price = models.DecimalField(max_digits=12, decimal_places=2)
    email = models.EmailField()
    site = models.URLField()
    colour = models.TextField()
    span = models.DurationField()
    extra = models.JSONField()
    label = models.TextField()


def flat_models(count: int) -> list[Any]:
    return [FlatModel(**record) for record in data.flat_dicts(count)]
