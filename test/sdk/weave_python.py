"""A normal program on the unmodified Python SDK, started by run-python.sh.

It knows of the server only by environment variables. It checks what the SDK reads back, then asks the
server's own routes what was stored. Exit code 0 means that all of it was right.
"""

import asyncio
import base64
import datetime
import json
import os
import urllib.request

import weave

PROJECT = os.environ["SDK_PROJECT"]
BASE_URL = os.environ["WANDB_BASE_URL"]
KEY = os.environ["WANDB_API_KEY"]
DOCUMENT = "größe 😀\n".encode() * 1000


def ask(path, **body):
    """What the server answers under its own names, past the SDK."""
    request = urllib.request.Request(
        BASE_URL + path,
        data=json.dumps({"project_id": PROJECT, **body}).encode(),
        headers={
            "content-type": "application/json",
            "authorization": "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode(),
        },
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read().decode()


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {name}: {found!r} is not {expected!r}")
    print(f"ok: {name}")


@weave.op
def complete(prompt: str) -> dict:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return {"model": "gpt-4o", "text": prompt.upper(), "usage": usage}


@weave.op
def outer(x: int) -> dict:
    return {"text": complete(f"größe {x} 😀")["text"], "sum": inner(x) + inner(x + 1)}


@weave.op
def inner(x: int) -> int:
    return x + 1


@weave.op
def fail() -> None:
    raise ValueError("out of range")


def collect(so_far, chunk):
    return [*(so_far or []), chunk]


@weave.op(accumulator=collect)
def count(limit: int):
    for n in range(1, limit + 1):
        yield n


@weave.op
def attach() -> weave.Content:
    return weave.Content.from_bytes(DOCUMENT, mimetype="text/plain")


@weave.op
def is_right(expected: str, output: str) -> bool:
    return output == expected


@weave.op
def model(question: str) -> str:
    return complete(question)["text"]


def trace(client):
    """Nested ops, an error, a stream; gives the call of the nested ops."""
    with weave.attributes({"tenant": "blue"}):
        result, call = outer.call(1)
    check("nested ops give their result", result, {"text": "GRÖSSE 1 😀", "sum": 5})
    try:
        fail()
    except ValueError as error:
        check("the op's own error comes through", str(error), "out of range")
    check("a stream gives its chunks", list(count(3)), [1, 2, 3])
    client.flush()
    return call


def store_file(client):
    _, call = attach.call()
    client.flush()
    check("a file is read back", client.get_call(call.id).output.data, DOCUMENT)


def evaluate(client):
    rows = [
        {"question": "a", "expected": "A"},
        {"question": "b", "expected": "B"},
        {"question": "c", "expected": "x"},
    ]
    dataset = weave.Dataset(name="letters", rows=rows)
    ref = weave.publish(dataset)
    evaluation = weave.Evaluation(dataset=dataset, scorers=[is_right])
    summary = asyncio.run(evaluation.evaluate(model))
    check("the evaluation counts", summary["is_right"]["true_count"], 2)
    client.flush()
    again = weave.ref(ref.uri()).get()
    check("a data set is read back", [dict(row) for row in again.rows], rows)


def log_evaluation(client):
    logger = weave.EvaluationLogger(name="logged", model="by_hand", dataset="letters")
    prediction = logger.log_prediction(inputs={"question": "a"}, output="A")
    prediction.log_score(scorer="accuracy", score=0.75)
    prediction.finish()
    logger.log_summary({"note": "done"})
    client.flush()


def read_back(client, call):
    calls = list(client.get_calls(filter={"trace_ids": [call.trace_id]}))
    check("get_calls gives the trace", len(calls), 4)
    check("len(get_calls) counts", len(client.get_calls()) > 4, True)
    one = client.get_call(call.id)
    check("a call is read back", one.output, {"text": "GRÖSSE 1 😀", "sum": 5})
    check("with its attributes", one.attributes["tenant"], "blue")
    one.set_display_name("my call")
    client.flush()
    check("and is renamed", client.get_call(call.id).display_name, "my call")
    child = next(iter(client.get_calls(filter={"parent_ids": [call.id]}, limit=1)))
    check("children are found", child.parent_id, call.id)


def give_feedback(client, call):
    note = call.feedback.add_note("well done")
    call.feedback.add_reaction("👍")
    call.feedback.add("custom", {"score": 0.5, "nested": {"ok": True}})
    client.flush()
    found = client.get_call(call.id).feedback
    kinds = [item.feedback_type for item in found]
    check("feedback is read back", sorted(kinds), ["custom", "wandb.note.1", "wandb.reaction.1"])
    check("under the ids that were given out", note in [item.id for item in found], True)
    found.purge(note)
    check("and is purged", len(client.get_call(call.id).feedback), 2)


def set_costs(client, call):
    since = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    created = client.add_cost("gpt-4o", 0.001, 0.0025, effective_date=since)
    found = client.query_costs(llm_ids=["gpt-4o"])
    check("a price is read back", [str(price.id) for price in found], [created.ids[0][0]])
    calls = list(client.get_calls(filter={"call_ids": [call.id]}, include_costs=True))
    costs = calls[0].summary["weave"]["costs"]["gpt-4o"]
    check("calls are priced by it", costs["prompt_tokens_total_cost"], 1)
    check("in the project", costs["pricing_level"], "project")
    stats = json.loads(
        ask(
            "/calls/stats",
            start="2020-01-01T00:00:00Z",
            filter={"call_ids": [call.id]},
            usage_metrics=[{"metric": "total_cost"}, {"metric": "input_tokens"}],
            call_metrics=[{"metric": "call_count"}],
        )
    )
    used = [bucket for bucket in stats["usage_buckets"] if bucket["count"] > 0]
    check("statistics too", [bucket["sum_total_cost"] for bucket in used], [1.25])
    client.purge_costs(created.ids[0][0])
    check("a price is purged", client.query_costs(llm_ids=["gpt-4o"]), [])


def look_at_the_store():
    """What the server keeps, asked under its own names."""
    lines = [json.loads(line) for line in ask("/calls/stream_query").splitlines()]
    by_op = {}
    for line in lines:
        name = line["op_name"].rsplit("/", 1)[-1].split(":")[0]
        by_op.setdefault(name, []).append(line)
    check("one outer", len(by_op["outer"]), 1)
    check("two inner", len(by_op["inner"]), 2)
    status = by_op["fail"][0]["summary"]["weave"]["status"]
    check("the error is stored", status, "error")
    check("as text", "out of range" in by_op["fail"][0]["exception"], True)
    check("the stream is stored", by_op["count"][0]["output"], [1, 2, 3])
    check("every call has ended", [c["id"] for c in lines if c["ended_at"] is None], [])
    check("an evaluation ran its model on every row", len(by_op["model"]), 3)


def main():
    client = weave.init(PROJECT)
    call = trace(client)
    store_file(client)
    evaluate(client)
    log_evaluation(client)
    read_back(client, call)
    give_feedback(client, call)
    set_costs(client, call)
    look_at_the_store()
    weave.finish()


if __name__ == "__main__":
    main()
