"""Parts of JSON schemas: types, lists, objects with fields, and references to named schemas.

A schema with a name stands once in the OpenAPI description, and becomes one class of a generated client.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
# Schemas of answers, by method and path.
Answers = dict[tuple[str, str], Schema]

TEXT: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}

REFERENCE = "#/components/schemas/"


def nullable(schema: Schema) -> Schema:
    """The schema of a value that may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(*choices: str) -> Schema:
    """The schema of a text that is one of these."""
    return {"type": "string", "enum": list(choices)}


def list_of(schema: Schema) -> Schema:
    """The schema of a list."""
    return {"type": "array", "items": schema}


def table_of(schema: Schema) -> Schema:
    """The schema of an object with any names and values of one kind."""
    return {"type": "object", "additionalProperties": schema}


def record(**fields: Schema) -> Schema:
    """The schema of an object that has all of these fields, and perhaps more."""
    return {"type": "object", "required": list(fields), "properties": fields}


def extended(schema: Schema, optional: Schema | None = None, **fields: Schema) -> Schema:
    """The schema of an object with the fields of another one, more fields, and perhaps those of `optional`."""
    return {
        "type": "object",
        "required": [*schema["required"], *fields],
        "properties": schema["properties"] | fields | (optional or {}),
    }


def named(name: str) -> Schema:
    """A reference to the schema with this name."""
    return {"$ref": f"{REFERENCE}{name}"}
