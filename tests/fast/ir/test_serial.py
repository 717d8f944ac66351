"""JSON: round trips, the published schema, and text that means harm."""

from __future__ import annotations

import json
import re
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tang
from tang.errors import GraphError
from tang.ir.expr import OPS, apply, arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.parse import MAX_BYTES, MAX_DEPTH
from tang.ir.serial import from_json, to_json
from tang.ir.view import Read, Ref, View, variable

SCHEMA = json.loads((Path(tang.__file__).parent / "ir" / "schema.json").read_text("utf-8"))
Graphs = dict[str, Callable[[], Graph]]


def conforms(value: object, schema: dict) -> bool:
    """The part of JSON Schema that the published one uses; an unknown keyword is an error."""
    known = {"$schema", "title", "description", "$defs"}
    rules = {k: v for k, v in schema.items() if k not in known}
    return all(CHECKS[k](value, v, schema) for k, v in rules.items())


def _is_type(value: object, name: str, _: dict) -> bool:
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[name])


def _same(a: object, b: object) -> bool:
    return type(a) is type(b) and a == b


CHECKS: dict[str, Callable[..., bool]] = {
    "$ref": lambda v, r, _: conforms(v, SCHEMA["$defs"][r.rsplit("/", 1)[1]]),
    "type": _is_type,
    "const": lambda v, c, _: _same(v, c),
    "enum": lambda v, e, _: any(_same(v, c) for c in e),
    "anyOf": lambda v, options, _: any(conforms(v, o) for o in options),
    "required": lambda v, names, _: all(n in v for n in names),
    "properties": lambda v, p, _: all(conforms(v[k], s) for k, s in p.items() if k in v),
    "additionalProperties": lambda v, _, s: v.keys() <= s["properties"].keys(),
    "items": lambda v, s, _: all(conforms(x, s) for x in v),
    "prefixItems": lambda v, ss, _: all(conforms(x, s) for x, s in zip(v, ss, strict=True)),
    "minItems": lambda v, n, _: len(v) >= n,
    "maxItems": lambda v, n, _: len(v) <= n,
    "minLength": lambda v, n, _: len(v) >= n,
    "maxLength": lambda v, n, _: len(v) <= n,
    "minimum": lambda v, n, _: v >= n,
    "maximum": lambda v, n, _: v <= n,
    "pattern": lambda v, p, _: re.search(p, v) is not None,
}


def test_a_round_trip_is_the_identity(sample: Graph) -> None:
    text = to_json(sample)
    assert from_json(text) == sample
    assert from_json(text.encode()) == sample
    assert to_json(from_json(text)) == text


def test_what_is_written_conforms_to_the_schema(sample: Graph) -> None:
    assert conforms(json.loads(to_json(sample)), SCHEMA)


def test_the_schema_refuses_other_documents(graphs: Graphs) -> None:
    document = json.loads(to_json(graphs["matmul"]()))
    assert not conforms({**document, "more": 1}, SCHEMA)
    assert not conforms({**document, "version": 2}, SCHEMA)
    assert not conforms({**document, "nodes": [{}]}, SCHEMA)


def test_the_schema_lists_every_operation():
    listed = SCHEMA["$defs"]["expression"]["anyOf"][-1]["properties"]["op"]["enum"]
    assert sorted(listed) == sorted(OPS)


def chain(length: int) -> Graph:
    body = arg(0)
    for _ in range(length):
        body = apply("add", body, arg(0))
    read = Read(Ref("x"), View((variable("i"),)))
    node = Comprehension("y", (Dim("i", poly(2)),), (read,), (body,), outputs=("value",))
    return Graph((Input("x", (poly(2),)),), (node,), (Output("y", Ref("y", "value")),))


def test_an_expression_of_depth_20000_needs_no_recursion():
    graph = chain(20_000)
    assert from_json(to_json(graph)) == graph


def refused(text: str | bytes, place: str) -> None:
    with pytest.raises(GraphError, match=re.escape(place)):
        from_json(text)


def edited(graphs: Graphs, name: str, path: list[object], value: object) -> str:
    document = json.loads(to_json(graphs[name]()))
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    return json.dumps(document)


FORWARD = [
    ("matmul", ["expressions", 2, "args"], [0, 2], "expressions[2].args[1]: no earlier"),
    ("matmul", ["nodes", 0, "monoid"], 1, "nodes[0].monoid: no earlier monoid 1"),
    ("matmul", ["nodes", 0, "body", 0], 10**6, "nodes[0].body[0]: no earlier expression"),
    ("matmul", ["nodes", 0, "body", 0], -1, "nodes[0].body[0]"),
    ("matmul", ["nodes", 0, "reads", 0, "source", "node"], "C", "node 'C': reads[0] reads itself"),
    ("matmul", ["outputs", 0, "node"], "D", "output 'C'"),
]
VIEW = ["nodes", 0, "reads", 0, "view"]
TYPES = [
    ("matmul", ["inputs", 0, "shape", 0], True, "inputs[0].shape[0]: expected a list, not a bool"),
    ("matmul", ["inputs", 0, "shape", 0], 2**63, "inputs[0].shape[0]"),
    ("matmul", ["inputs", 0, "shape", 0], -1, "input 'A' dim 0 has extent -1"),
    ("matmul", ["inputs", 0, "shape", 0], 1.5, "inputs[0].shape[0]: 1.5 is no integer"),
    ("matmul", ["inputs", 0, "sort"], "float", "inputs[0].sort"),
    ("matmul", ["inputs", 0, "name"], 7, "inputs[0].name: expected a string"),
    ("matmul", ["inputs", 0, "name"], "", "inputs[0].name"),
    ("matmul", ["inputs", 0, "name"], "a\x00", "control character"),
    ("matmul", ["inputs", 0, "name"], "x" * 10**5, "inputs[0].name: a string of 100000"),
    ("matmul", ["inputs", 0, "name"], "\ud800", "inputs[0].name: a string with a lone surrogate"),
    ("matmul", ["inputs", 1, "name"], "A", "two tensors are named 'A'"),
    (
        "matmul",
        ["nodes", 0, "reads", 0, "view", "coords", 1],
        {},
        "nodes[0].reads[0].view.coords[1]",
    ),
    ("matmul", [*VIEW, "fill"], 0, "nodes[0].reads[0].view"),
    ("matmul", ["nodes", 0, "extra"], 0, "nodes[0]: unknown field 'extra'"),
    ("matmul", ["version"], 2, "version"),
    ("matmul", ["format"], "onnx", "format"),
    ("matmul", ["expressions", 0], {"op": "eval", "args": []}, "expressions[0]: unknown operation"),
    ("matmul", ["expressions", 0], [], "expressions[0]"),
    ("matmul", ["monoids", 0, "lift"], [], "monoids[0]: monoid 'sum'"),
    ("symbolic_softmax", ["inputs", 0, "shape", 0], [[1, ["1n"]]], "inputs[0].shape[0][0][1][0]"),
    ("constants", ["expressions", 0, "value"], "0x1p+99999", "expressions[0].value"),
    ("constants", ["expressions", 0, "value"], "0x1p+9999", "expressions[0].value"),
    ("constants", ["expressions", 0, "value"], "0x1/0x0", "expressions[0].value"),
    ("constants", ["expressions", 0, "value"], "__import__('os')", "expressions[0].value"),
]


@pytest.mark.parametrize(("name", "path", "value", "place"), FORWARD + TYPES)
def test_a_planted_fault_is_named_by_its_place(
    graphs: Graphs, name: str, path: list[object], value: object, place: str
) -> None:
    refused(edited(graphs, name, path, value), place)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "0.5", "9" * 10**6])
def test_what_is_no_integer_is_named_by_its_place(graphs: Graphs, number: str) -> None:
    text = to_json(graphs["matmul"]()).replace('"shape": [64', f'"shape": [{number}')
    refused(text, "inputs[0].shape[0]: ")


def test_a_key_that_occurs_twice_is_named_by_its_place(graphs: Graphs) -> None:
    text = to_json(graphs["matmul"]()).replace('{"name": "A"', '{"name": "Z", "name": "A"')
    refused(text, "inputs[0]: the key 'name' occurs twice")


@pytest.mark.parametrize("text", ["", "[", "nul", "[1,]", '{"a"}', "{}", "[]", "7", '"\\', b"\xff"])
def test_text_that_is_no_document_is_refused(text: str | bytes) -> None:
    refused(text, "document")


def test_gathers_nested_too_deep_are_refused(graphs: Graphs) -> None:
    read = {"source": {"node": "idx", "output": ""}}
    view: dict = {"coords": [], "guard": [], "fill": None, "gathers": []}
    for _ in range(12):
        view = {"coords": [], "guard": [], "fill": None, "gathers": [{**read, "view": view}]}
    path = ["nodes", 0, "reads", 0, "view"]
    refused(edited(graphs, "gathered", path, view), "gathers nest over 8 deep")


DEEP = 1_000_000
HOSTILE = {
    "lists": "[" * DEEP,
    "objects": '{"a":' * DEEP,
    "balanced": "[" * DEEP + "]" * DEEP,
    "escaped quotes": '"' + '\\"' * DEEP,
    "backslashes": '"' + "\\" * DEEP,
    "flat numbers": '{"nodes": [' + "0," * DEEP + "0]}",
    "flat lists": '{"nodes": [' + "[]," * DEEP + "[]]}",
    "a long integer": "9" * (4 * DEEP),
    "many keys": "{" + ",".join(f'"{n}":0' for n in range(200_000)) + "}",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_refused_in_bounded_time_and_memory(kind: str) -> None:
    tracemalloc.start()
    begun = time.process_time()
    refused(HOSTILE[kind], "document")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.process_time() - begun < 20
    assert peak < 100 * MAX_BYTES


def test_a_hundred_megabytes_are_refused_unread():
    begun = time.process_time()
    refused("[" * 100_000_000, "document: 100000000 characters")
    refused(b"[" * 100_000_000, "document: 100000000 bytes")
    assert time.process_time() - begun < 5


def test_the_depth_limit_counts_no_brackets_in_strings():
    refused(json.dumps("[" * 2 * MAX_DEPTH), "document: expected an object")


def test_a_tower_of_shared_operations_is_refused_not_expanded(graphs: Graphs) -> None:
    document = json.loads(to_json(graphs["matmul"]()))
    rows = [{"op": "arg", "position": 0, "sort": "real"}]
    rows += [{"op": "add", "args": [n, n]} for n in range(50_000)]
    node = {**document["nodes"][0], "monoid": None, "reduce": [], "where": [], "outputs": ["v"]}
    view = {"coords": [], "guard": [], "fill": None, "gathers": []}
    node |= {"reads": [{"source": {"node": "s", "output": ""}, "view": view}]}
    nodes = [{**node, "name": f"n{k}", "body": [50_000]} for k in range(1000)]
    document |= {"expressions": rows, "monoids": [], "nodes": nodes, "outputs": []}
    document["inputs"] = [{"name": "s", "shape": [], "sort": "real"}]
    refused(json.dumps(document), "split the program")


def _places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path]
    if isinstance(value, dict):
        found += [p for k, v in value.items() for p in _places(v, (*path, k))]
    elif isinstance(value, list):
        found += [p for n, v in enumerate(value) for p in _places(v, (*path, n))]
    return found


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from(["i", "k", "@0", "@1", "value", "inf", "0x1p+0", "real", "index", "fold"]),
    st.builds(list),
    st.builds(dict),
)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_only_graph_errors_escape_from_mutated_documents(
    graphs: Graphs, data: st.DataObject
) -> None:
    text = to_json(graphs[data.draw(st.sampled_from(sorted(graphs)))]())
    document = json.loads(text)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(document)))
        document = _mutated(data, document, path)
    _survives(json.dumps(document))


def _mutated(data: st.DataObject, document: object, path: tuple[object, ...]) -> object:
    if not path:
        return data.draw(junk)
    target = document
    for step in path[:-1]:
        target = target[step]  # type: ignore[index]
    kind = data.draw(st.sampled_from(["replace", "delete", "copy"]))
    if kind == "replace":
        target[path[-1]] = data.draw(junk)  # type: ignore[index]
    elif kind == "delete":
        del target[path[-1]]  # type: ignore[attr-defined]
    elif isinstance(target, list):
        target.append(target[path[-1]])  # type: ignore[call-overload]
    return document


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_only_graph_errors_escape_from_mutated_text(graphs: Graphs, data: st.DataObject) -> None:
    raw = bytearray(to_json(graphs[data.draw(st.sampled_from(sorted(graphs)))]()).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=4))
        if not raw:
            break
    _survives(bytes(raw))


def _survives(text: str | bytes) -> None:
    try:
        graph = from_json(text)
    except GraphError:
        return
    assert from_json(to_json(graph)) == graph
