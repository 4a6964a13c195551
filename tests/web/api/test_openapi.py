"""The OpenAPI description has every endpoint with its parameters."""

import inspect

from searchlab.web.routes.routing import ENDPOINTS
from tests.web.search_client import get_json


def test_the_description_has_every_endpoint_and_nothing_else(client):
    description = get_json(client, "/api/openapi.json")
    assert description["openapi"].startswith("3.1")
    described = {(method.upper(), path) for path, methods in description["paths"].items() for method in methods}
    assert described == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    names = [operation["operationId"] for methods in description["paths"].values() for operation in methods.values()]
    assert len(set(names)) == len(names)
    for endpoint in ENDPOINTS:
        operation = description["paths"][endpoint.path][endpoint.method.lower()]
        if endpoint.method == "POST" and not endpoint.takes_file:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            assert set(body["properties"]) == {parameter.name for parameter in endpoint.parameters}
        else:
            assert {each["name"] for each in operation["parameters"]} == {each.name for each in endpoint.parameters}
        assert "404" in operation["responses"]


def test_every_handler_takes_the_parameters_of_its_endpoint():
    assert ENDPOINTS
    for endpoint in ENDPOINTS:
        expected = {"state", *(parameter.name for parameter in endpoint.parameters)} - {"index", "synonyms"}
        expected |= {"content"} if endpoint.takes_file else set()
        assert set(inspect.signature(endpoint.handler).parameters) == expected, endpoint.path
