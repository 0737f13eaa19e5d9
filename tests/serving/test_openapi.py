"""Schemathesis sends requests that /openapi.json allows, and many that it does not."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

MANY = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def operations(server):
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    return [found.ok() for found in schema.get_all_operations()]


# What a description cannot say: which languages go together, how many layers a model has, how many sentences a text.
UNDESCRIBED = (
    "is not available as a target language",
    "which this server does not translate into",
    "there is no layer",
    "there is no sentence",
    "nothing to look at",
    "exceeds text limit",
    "directly, which this needs",
)


def check(case) -> None:
    """Send a request; its response must be described, and a 5xx must be a 503 with Retry-After."""
    answer = case.call()
    excluded = []
    if answer.status_code == 503:
        assert int(answer.headers["retry-after"][0]) >= 1
        excluded = [not_a_server_error]
    if answer.status_code >= 400:
        values = json.loads(answer.content)
        assert set(values) == {"error"}
        if case.path == "/translate_file" or any(words in values["error"] for words in UNDESCRIBED):
            excluded = [positive_data_acceptance]
    case.validate_response(answer, excluded_checks=excluded)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
def test_every_answer_is_one_that_is_described(server, operations, mode):
    asked = []
    for operation in operations:
        if mode == GenerationMode.NEGATIVE and not (operation.body or operation.query):
            continue  # there is nothing to be wrong
        asked.append(operation.path)
        MANY(given(case=operation.as_strategy(generation_mode=mode))(check))()
    assert {
        "/translate",
        "/translate_file",
        "/detect",
        "/sentences",
        "/inspect",
        "/steps",
        "/beam",
        "/positions",
    } <= set(asked)
    assert server.is_healthy()
