"""The OpenAPI description of the API, generated from its endpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from searchlab import __version__
from searchlab.web.api.answers.answer_schemas import ANSWERS, NAMED_SCHEMAS
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import Parameter, object_schema

ERROR = {
    "type": "object",
    "required": ["error", "field"],
    "properties": {
        "error": {"type": "string", "description": "one line: what was found, what was expected"},
        "field": {
            "type": ["string", "null"],
            "description": "the parameter at fault, if it is one: `k`, or `judgments[2].grade` in a list",
        },
    },
}
DESCRIPTION = (
    "Search, compare, explain, judge, train and measure. "
    "Titles, snippets and bodies are plain text; `marks` has the positions of the matched words, as [start, end] in "
    "characters, under the name of each text; a hit in a document with pages has the `page` of its snippet. "
    "An explanation has `docno`, `score`, `found` and `parts`, whose amounts add up to the score. "
    'Errors are JSON: {"error": …, "field": …}, where `field` is the parameter at fault, or null.'
)
# Statuses that any request may get.
ERRORS = {
    "400": "A parameter is not as expected",
    "401": "A token is needed",
    "403": "The request comes from another site",
    "404": "The request names something that does not exist",
    "408": "The body took too long to arrive",
    "409": "It cannot be done now: something of this name exists, is under way, or is missing",
    "413": "The body is too large",
    "414": "The URL is too long",
    "415": "The body has another type than expected",
    "431": "The headers are too large",
    "500": "An error of the server, or a damaged file",
    "503": "The server is too busy, or the request took too long",
    "507": "The disk is full",
}


def describe_api(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The description in OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "searchlab",
            "version": __version__,
            "description": DESCRIPTION,
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR} | NAMED_SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    content: dict[str, Any] = {kind: {"schema": {"type": "string"}} for kind in endpoint.media_types}
    if not endpoint.is_text:
        content = {"application/json": {"schema": ANSWERS[endpoint.method, endpoint.path]}}
    error_content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    errors = {status: {"description": text, "content": error_content} for status, text in ERRORS.items()}
    name = endpoint.path.removeprefix("/api/").replace("-", "_").replace("/", "_").replace("{", "").replace("}", "")
    operation: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{name}",
        "summary": endpoint.summary,
        "responses": {"200": {"description": "The answer", "content": content}} | errors,
    }
    if endpoint.method == "POST" and not endpoint.takes_file:
        body_content = {"application/json": {"schema": object_schema(endpoint.parameters)}}
        return operation | {"requestBody": {"required": True, "content": body_content}}
    if endpoint.takes_file:
        file_content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        operation |= {"requestBody": {"required": True, "content": file_content}}
    in_path = [f"{{{parameter.name}}}" in endpoint.path for parameter in endpoint.parameters]
    parameters = [_parameter(*pair) for pair in zip(endpoint.parameters, in_path, strict=True)]
    return operation | {"parameters": parameters}


def _parameter(parameter: Parameter, in_path: bool) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "path" if in_path else "query",
        "required": in_path or parameter.required,
        "description": parameter.description,
        "schema": parameter.schema(),
    }
