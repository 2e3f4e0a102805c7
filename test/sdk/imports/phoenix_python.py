"""Fills a Phoenix server through its client, or compares what that reads with an exported import; see run.sh."""

import json
import sys
import time
import urllib.request
from datetime import datetime, timezone

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from phoenix.client import Client
from phoenix.client.types import PromptVersion

TRACES = 60
BEGIN_NS = 1_780_000_000_123_457_000
MODEL = "gpt-5.4"


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def record(tracer, number):
    """One trace of four spans; the ids of the root and of the model call."""
    start = BEGIN_NS + number * 1_000_003_000
    root = tracer.start_span(
        "answer",
        start_time=start,
        attributes={
            "openinference.span.kind": "CHAIN",
            "input.value": json.dumps({"q": f"ü {number}"}),
            "input.mime_type": "application/json",
            "session.id": f"s{number % 3}",
            "user.id": "u1",
            "metadata": json.dumps({"tier": "gold", "n": number}),
            "tag.tags": ["a", "b"],
            "output.value": f"answer {number}",
        },
    )
    below = trace.set_span_in_context(root)
    message = "llm.output_messages.0.message"
    model = tracer.start_span(
        "ChatCompletion",
        context=below,
        start_time=start + 1_001_000,
        attributes={
            "openinference.span.kind": "LLM",
            "llm.model_name": MODEL,
            "llm.provider": "openai",
            "llm.invocation_parameters": json.dumps({"temperature": 0.5}),
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": f"question {number}",
            f"{message}.role": "assistant",
            f"{message}.tool_calls.0.tool_call.id": "c1",
            f"{message}.tool_calls.0.tool_call.function.name": "look",
            f"{message}.tool_calls.0.tool_call.function.arguments": '{"id":"12"}',
            "llm.token_count.prompt": 100 + number,
            "llm.token_count.completion": 20,
            "llm.token_count.total": 120 + number,
            "llm.token_count.prompt_details.cache_read": 40,
        },
    )
    model.end(end_time=start + 500_000_000)
    tool = tracer.start_span(
        "look",
        context=below,
        start_time=start + 500_001_000,
        attributes={"openinference.span.kind": "TOOL", "tool.name": "look", "output.value": "found"},
    )
    if number % 5 == 0:
        tool.record_exception(ValueError("no such item"))
        tool.set_status(trace.Status(trace.StatusCode.ERROR, "no such item"))
    tool.end(end_time=start + 600_000_000)
    search = tracer.start_span(
        "search",
        context=below,
        start_time=start + 600_001_000,
        attributes={
            "openinference.span.kind": "RETRIEVER",
            "input.value": "q",
            "retrieval.documents.0.document.content": "text",
            "retrieval.documents.0.document.score": 0.75,
        },
    )
    search.end(end_time=start + 700_000_000)
    root.end(end_time=start + 900_000_000)
    return [format(span.get_span_context().span_id, "016x") for span in (root, model)]


def fill(url):
    provider = TracerProvider(resource=Resource({"openinference.project.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
    ids = [record(provider.get_tracer("shop"), number) for number in range(TRACES)]
    provider.shutdown()
    client = Client(base_url=url)
    # Spans are stored some time after they are acknowledged.
    for _ in range(100):
        if len(client.spans.get_spans(project_identifier="shop", limit=1000)) == 4 * TRACES:
            break
        time.sleep(0.2)
    for number, (root, model) in enumerate(ids):
        client.spans.add_span_annotation(
            span_id=model,
            annotation_name="correctness",
            annotator_kind="HUMAN" if number % 2 else "LLM",
            label="good" if number % 3 else "bad",
            score=number % 3 / 2,
            explanation="because",
            sync=True,
        )
        if number % 4 == 0:
            client.spans.add_span_note(span_id=root, note=f"note {number}")
    rows = {"inputs": [{"q": "1"}, {"q": "2"}], "outputs": [{"a": "x"}, {"a": "y"}]}
    client.datasets.create_dataset(name="questions", **rows)
    client.datasets.add_examples_to_dataset(dataset="questions", inputs=[{"q": "3"}], outputs=[{"a": "z"}])
    for text in ("Hello {{q}}", "Hi {{q}}"):
        version = PromptVersion([{"role": "user", "content": text}], model_name=MODEL, template_format="MUSTACHE")
        made = client.prompts.create(name="greet", version=version)
    client.prompts.tags.create(prompt_version_id=made.id, name="production")


def lines(folder, name):
    with open(f"{folder}/{name}.jsonl") as file:
        return [json.loads(line) for line in file]


def same(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"not ok: {what}: {seen!r} is not {wanted!r}")


def utc(time_of_tool):
    moment = time_of_tool if isinstance(time_of_tool, datetime) else datetime.fromisoformat(time_of_tool)
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def compare(url, folder):
    client = Client(base_url=url)
    calls = {call["id"]: call for call in lines(folder, "calls")}
    spans = client.spans.get_spans(project_identifier="shop", limit=1000)
    same("number of spans", len(calls), len(spans))
    for span in spans:
        call = calls[span["context"]["span_id"]]
        attributes = span["attributes"]
        same("trace", call["trace_id"], span["context"]["trace_id"])
        same("parent", call.get("parent_id"), span["parent_id"])
        same("name", call["op_name"], span["name"])
        same("start", call["started_at"], utc(span["start_time"]))
        same("end", call["ended_at"], utc(span["end_time"]))
        failed = span["status_code"] == "ERROR"
        same("error", call.get("exception"), span["status_message"] if failed else None)
        same("kind", call["attributes"]["kind"], span["span_kind"].lower())
        same("thread", call.get("thread_id"), attributes.get("session.id"))
        kept = {name: value for name, value in call["otel_dump"]["attributes"].items() if name != "openinference.span.kind"}
        same("attributes", kept, attributes)
        if span["span_kind"] != "LLM":
            same("usage", call["summary"], {})
            continue
        usage = call["summary"]["usage"][MODEL]
        same("prompt", usage["prompt_tokens"], attributes["llm.token_count.prompt"])
        same("completion", usage["completion_tokens"], attributes["llm.token_count.completion"])
        same("cached", usage["prompt_tokens_details"]["cached_tokens"], 40)
    print(f"ok: phoenix, {len(spans)} spans are the same")

    scores = lines(folder, "feedback")
    about = {"span_ids": list(calls), "project_identifier": "shop", "limit": 10000}
    # By default the client leaves out notes.
    found = client.spans.get_span_annotations(**about, exclude_annotation_names=[])
    same("number of annotations", len(scores), len(found))
    by_call = {}
    for score in scores:
        by_call[(score["weave_ref"].rsplit("/", 1)[1], score["feedback_type"])] = score
    for annotation in found:
        result = annotation["result"]
        is_note = annotation["name"] == "note"
        score = by_call[(annotation["span_id"], "wandb.note" if is_note else annotation["name"])]
        same("time", score["created_at"], utc(annotation["created_at"]))
        for field in ("score", "label", "explanation"):
            same(field, score["payload"].get(field), result.get(field))
        if is_note:
            same("note", score["payload"]["note"], result["explanation"])
    print(f"ok: phoenix, {len(found)} annotations are the same")

    dataset = client.datasets.get_dataset(dataset="questions")
    objects = lines(folder, "objects")
    newest = [item for item in objects if item["object_id"] == "questions"][-1]
    digest = newest["val"]["rows"].rsplit("/", 1)[1]
    rows = [row["val"] for row in lines(folder, "table_rows") if row["table_digest"] == digest]
    same("rows", [(row["input"], row["output"]) for row in rows], [(e["input"], e["output"]) for e in dataset.examples])
    prompt = [item for item in objects if "production" in item["aliases"]][-1]
    tagged = client.prompts.get(prompt_identifier="greet", tag="production")
    same("prompt", prompt["val"]["messages"], tagged._dumps()["template"]["messages"])
    print("ok: phoenix, dataset and prompt are the same")


if __name__ == "__main__":
    {"fill": fill, "compare": compare}[sys.argv[1]](*sys.argv[2:])
