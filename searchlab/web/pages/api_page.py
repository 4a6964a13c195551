"""The page that describes the API, made from its OpenAPI description; it needs no network and no foreign script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from searchlab.web.api.answers.answer_schemas import NAMED_SCHEMAS
from searchlab.web.api.answers.schema_types import REFERENCE
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.openapi import DESCRIPTION, describe_api
from searchlab.web.pages.page import BrowserSession
from searchlab.web.state.request_state import RequestState

INDENT = "  "


def api_page(
    list_endpoints: Callable[[], Iterable[Endpoint]],
) -> Callable[[RequestState, BrowserSession, dict[str, Any]], dict[str, Any]]:
    """Makes the variables of the page from the endpoints."""

    def make_context(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
        return {"description": DESCRIPTION, "operations": describe_operations(list_endpoints())}

    return make_context


def describe_operations(endpoints: Iterable[Endpoint]) -> list[dict[str, Any]]:
    """The operations in their order, with parameters in words and the shapes of their answers."""
    paths = describe_api(endpoints)["paths"]
    return [_operation(method, path, each) for path, methods in paths.items() for method, each in methods.items()]


def _operation(method: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    parameters = [
        {"name": each["name"], "required": each["required"], "description": each["description"]}
        | {"type": _type_of(each["schema"])}
        for each in operation.get("parameters", [])
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for name, schema in body.get("properties", {}).items():
        described = {"name": name, "required": name in body["required"], "description": schema["description"]}
        parameters.append(described | {"type": _type_of(schema)})
    content = operation["responses"]["200"]["content"]
    answer = content.get("application/json", {}).get("schema", {})
    return {
        "id": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": operation["summary"],
        "parameters": parameters,
        "answer": shape_of(answer) if answer else "",
    }


def _type_of(schema: dict[str, Any]) -> str:
    """The type of a parameter in words, with its choices or bounds."""
    kind = schema.get("type", "")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if words == "array":
        words = f"up to {schema['maxItems']:,} of {_type_of(schema['items'])}"
    if "enum" in schema:
        words = ", ".join(schema["enum"])
    if "minimum" in schema and "maximum" in schema:
        words += f", {schema['minimum']:g} to {schema['maximum']:g}"
    default = schema.get("default")
    return words if default in (None, "", []) else f"{words}; default {str(default).lower()}"


def shape_of(schema: dict[str, Any], depth: int = 0) -> str:
    """A schema as an outline of names and types."""
    if "$ref" in schema:
        return shape_of(NAMED_SCHEMAS[schema["$ref"].removeprefix(REFERENCE)], depth)
    if "anyOf" in schema:
        return " or ".join(shape_of(each, depth) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"[{shape_of(schema['items'], depth)}, …]"
    if properties := schema.get("properties"):
        inner = INDENT * (depth + 1)
        lines = [f"{inner}{name}: {shape_of(each, depth + 1)}" for name, each in properties.items()]
        return "\n".join(["{", *lines, f"{INDENT * depth}}}"])
    if isinstance(schema.get("additionalProperties"), dict):
        return f"{{name: {shape_of(schema['additionalProperties'], depth)}, …}}"
    kind = schema.get("type", "any")
    return " | ".join(schema.get("enum", [])) or (" or ".join(kind) if isinstance(kind, list) else str(kind))
