"""How does a program learn what the API can do? From a description that is made of the endpoints themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from searchlab import __version__
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import Parameter

ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "description": "one line: what was found, what was expected"}},
}
# Statuses that any request may meet.
REFUSALS = {
    "400": "A parameter is not what was expected",
    "401": "A token is needed",
    "403": "The request comes from another site",
    "404": "Something was named that is not there",
    "413": "Too large",
    "503": "Too busy, or it took too long",
}


def describe(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The description, by OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "searchlab",
            "version": __version__,
            "description": 'Search, compare, explain, judge, learn and measure. Errors are JSON: {"error": …}.',
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    content: dict[str, Any] = {"text/plain": {"schema": {"type": "string"}}}
    if not endpoint.text:
        content = {"application/json": {"schema": {"type": "object"}}}
    refused = {
        status: {
            "description": what,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status, what in REFUSALS.items()
    }
    name = endpoint.path.removeprefix("/api/").replace("/", "_").replace("{", "").replace("}", "")
    own: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{name}",
        "summary": endpoint.what,
        "responses": {"200": {"description": "The answer", "content": content}} | refused,
    }
    if endpoint.is_write:
        own["requestBody"] = {"required": True, "content": {"application/json": {"schema": _body(endpoint.parameters)}}}
    else:
        own["parameters"] = [
            _parameter(parameter, in_path=f"{{{parameter.name}}}" in endpoint.path) for parameter in endpoint.parameters
        ]
    return own


def _parameter(parameter: Parameter, *, in_path: bool) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "path" if in_path else "query",
        "required": in_path or parameter.required,
        "description": parameter.what,
        "schema": parameter.schema(),
    }


def _body(parameters: Iterable[Parameter]) -> dict[str, Any]:
    own = list(parameters)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [parameter.name for parameter in own if parameter.required],
        "properties": {parameter.name: parameter.schema() | {"description": parameter.what} for parameter in own},
    }
