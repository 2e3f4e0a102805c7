"""Fills an MLflow server through its client, or compares what that reads with an exported import; see run.sh."""

import json
import sys
import time
from datetime import datetime, timezone

import mlflow
import mlflow.genai.datasets
from mlflow.entities import AssessmentSource, SpanType

TRACES = 40
MODEL = "gpt-5.4"


def record(number):
    with mlflow.start_span("answer", span_type=SpanType.CHAIN) as root:
        root.set_inputs({"q": f"ü {number}"})
        mlflow.update_current_trace(
            metadata={"mlflow.trace.session": f"s{number % 3}", "mlflow.trace.user": "u1"}, tags={"tier": "gold"}
        )
        usage = {"input_tokens": 100 + number, "output_tokens": 20, "total_tokens": 120 + number}
        with mlflow.start_span("chat", span_type=SpanType.CHAT_MODEL) as model:
            model.set_inputs({"model": MODEL, "messages": [{"role": "user", "content": f"question {number}"}]})
            model.set_outputs({"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}]})
            model.set_attribute("mlflow.chat.tokenUsage", {**usage, "cache_read_input_tokens": 40})
            model.set_attribute("mlflow.llm.model", MODEL)
        with mlflow.start_span("look", span_type=SpanType.TOOL) as tool:
            tool.set_inputs({"id": "12", "long": 9007199254740993})
            if number % 5 == 0:
                tool.record_exception(ValueError("no such item"))
            tool.set_outputs("found")
        root.set_outputs(f"answer {number}")
    return root.trace_id, model.span_id


def fill(_url):
    mlflow.set_experiment("shop")
    ids = [record(number) for number in range(TRACES)]
    mlflow.flush_trace_async_logging()
    time.sleep(1)
    human = AssessmentSource(source_type="HUMAN", source_id="reviewer")
    for number, (trace_id, span_id) in enumerate(ids):
        mlflow.log_feedback(trace_id=trace_id, name="correct", value=bool(number % 2), rationale="why", source=human)
        mlflow.log_feedback(trace_id=trace_id, name="quality", value=number / 4, span_id=span_id, source=human)
        mlflow.log_expectation(trace_id=trace_id, name="expected", value={"a": [number, "x"]}, source=human)
    mlflow.log_feedback(trace_id=ids[0][0], name="broken", error=ValueError("judge failed"), source=human)
    experiment = mlflow.get_experiment_by_name("shop").experiment_id
    dataset = mlflow.genai.datasets.create_dataset(name="questions", experiment_id=[experiment])
    dataset.merge_records([{"inputs": {"q": str(n)}, "expectations": {"a": "x"}} for n in range(700)])
    mlflow.genai.register_prompt(name="greet", template="Hello {{q}}")
    mlflow.genai.register_prompt(name="greet", template=[{"role": "user", "content": "{{q}}"}])
    mlflow.genai.set_prompt_alias("greet", alias="production", version=2)


def lines(folder, name):
    with open(f"{folder}/{name}.jsonl") as file:
        return [json.loads(line) for line in file]


def same(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"not ok: {what}: {seen!r} is not {wanted!r}")


def plain(value):
    """In the artifact store, where a busy client puts spans too, values are JSON as texts."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def utc(micros):
    seconds, rest = divmod(micros, 1_000_000)
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest:06d}Z"


def compare(_url, folder):
    experiment = mlflow.get_experiment_by_name("shop").experiment_id
    traces = mlflow.search_traces(locations=[experiment], max_results=10_000, return_type="list")
    calls = {call["id"]: call for call in lines(folder, "calls")}
    scores = {(s["weave_ref"].rsplit("/", 1)[1], s["feedback_type"]): s for s in lines(folder, "feedback")}
    spans = assessments = 0
    for trace in traces:
        root = next(span.span_id for span in trace.data.spans if span.parent_id is None)
        for span in trace.data.spans:
            spans += 1
            call = calls[span.span_id]
            same("trace", f"tr-{call['trace_id']}", trace.info.trace_id)
            same("parent", call.get("parent_id"), span.parent_id)
            same("name", call["op_name"], span.name)
            same("start", call["started_at"], utc(span.start_time_ns // 1000))
            same("end", call["ended_at"], utc(span.end_time_ns // 1000))
            same("error", call.get("exception"), span.status.description or None)
            same("thread", call["thread_id"], trace.info.trace_metadata["mlflow.trace.session"])
            kept = call["otel_dump"]["attributes"]
            same("inputs", plain(kept["mlflow.spanInputs"]), span.inputs)
            same("outputs", plain(kept["mlflow.spanOutputs"]), span.outputs)
            if span.span_type != SpanType.CHAT_MODEL:
                same("usage", call["summary"], {})
                continue
            usage = call["summary"]["usage"][MODEL]
            wanted = span.attributes["mlflow.chat.tokenUsage"]
            same("input", usage["prompt_tokens"], wanted["input_tokens"])
            same("output", usage["completion_tokens"], wanted["output_tokens"])
            same("cached", usage["prompt_tokens_details"]["cached_tokens"], 40)
        for item in trace.info.assessments:
            assessments += 1
            score = scores[(item.span_id or root, item.name)]
            field = "expectation" if item.expectation else "value"
            same(item.name, score["payload"][field], item.value)
            same("rationale", score["payload"].get("explanation"), item.rationale)
            same("author", score["creator"], item.source.source_id)
            same("time", score["created_at"], utc(item.create_time_ms * 1000))
    same("number of spans", len(calls), spans)
    same("number of scores", len(scores), assessments)
    print(f"ok: mlflow, {spans} spans and {assessments} assessments are the same")

    dataset = mlflow.genai.datasets.get_dataset(name="questions")
    rows = {row["val"]["inputs"]["q"]: row["val"]["expectations"] for row in lines(folder, "table_rows")}
    wanted = {row["inputs"]["q"]: row["expectations"] for _, row in dataset.to_df().iterrows()}
    same("rows", rows, wanted)
    prompts = [item for item in lines(folder, "objects") if item["object_id"] == "greet"]
    tagged = mlflow.genai.load_prompt("prompts:/greet@production")
    same("prompt", [p["val"]["messages"] for p in prompts if p["aliases"] == ["production"]], [tagged.template])
    print(f"ok: mlflow, {len(rows)} records and the prompt are the same")


if __name__ == "__main__":
    {"fill": fill, "compare": compare}[sys.argv[1]](*sys.argv[2:])
