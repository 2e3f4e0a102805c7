"""One program, traced by an unmodified Python library, started by run-python.sh.

It asks `tiny` twice below a span of its own, and a model that is not there. SDK_TRACED_BY names the library: one that
sends OpenTelemetry, or the Weave SDK. Then it reads the calls back: whichever library it was, they are one tree with the
same names, models, tokens, messages and costs. Exit code 0 means that all of it was right.
"""

import base64
import json
import os
import time
import urllib.request

import openai

TRACED_BY = os.environ["SDK_TRACED_BY"]
PROJECT = f"acme/otel-{TRACED_BY}"
BASE_URL = os.environ["WANDB_BASE_URL"]
KEY = os.environ["WANDB_API_KEY"]
QUESTIONS = ["What is 3 plus 4?", "What is 2 plus 2?"]
WAIT_S = 20

os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = BASE_URL
os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = f"authorization=Bearer%20{KEY},project_id={PROJECT}"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"


def ask(path, **body):
    """What the server answers, past all libraries."""
    request = urllib.request.Request(
        BASE_URL + path,
        data=json.dumps({"project_id": PROJECT, **body}).encode(),
        headers={
            "content-type": "application/json",
            "authorization": "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode(),
        },
    )
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        return answer.read().decode()


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {TRACED_BY}: {name}: {found!r} is not {expected!r}")
    print(f"ok: {TRACED_BY}: {name}")


def read_calls(count):
    """All calls with costs, once so many have ended."""
    end = time.monotonic() + WAIT_S
    while True:
        lines = ask("/calls/stream_query", include_costs=True).splitlines()
        calls = [json.loads(line) for line in lines]
        if len([call for call in calls if call["ended_at"]]) >= count:
            return calls
        if time.monotonic() > end:
            raise SystemExit(f"not ok: {TRACED_BY}: {len(calls)} calls came, not {count}")
        time.sleep(0.1)


def run_program(client):
    """What is traced: two answers and a refusal. Gives the answers and their usage."""
    answers = [
        client.chat.completions.create(
            model="tiny", temperature=0, messages=[{"role": "user", "content": question}]
        )
        for question in QUESTIONS
    ]
    try:
        client.chat.completions.create(
            model="no-such-model", messages=[{"role": "user", "content": "?"}]
        )
        raise SystemExit("not ok: an unknown model answered")
    except openai.NotFoundError:
        pass
    return answers


def open_tracer():
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


def trace_by_provider(instrumentor, client):
    provider = open_tracer()
    instrumentor.instrument(tracer_provider=provider)
    with provider.get_tracer("program").start_as_current_span("answer_all"):
        answers = run_program(client)
    provider.force_flush()
    provider.shutdown()
    return answers


def trace_by_openllmetry(client):
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    return trace_by_provider(OpenAIInstrumentor(), client)


def trace_by_openinference(client):
    from openinference.instrumentation.openai import OpenAIInstrumentor

    return trace_by_provider(OpenAIInstrumentor(), client)


def trace_by_logfire(client):
    import logfire

    logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
    logfire.instrument_openai(client)
    with logfire.span("answer_all"):
        answers = run_program(client)
    logfire.force_flush()
    return answers


def trace_by_weave(client):
    import weave

    handle = weave.init(PROJECT)
    answers = weave.op(run_program, name="answer_all")(client)
    handle.finish()
    return answers


def name_of(call):
    """The name of an op, also of one that is published."""
    return call["op_name"].rsplit("/", 1)[-1].split(":")[0]


def usage_of(call):
    usage = call["summary"].get("usage") or {}
    return {
        model: (
            counts.get("prompt_tokens") or counts.get("input_tokens") or 0,
            counts.get("completion_tokens") or counts.get("output_tokens") or 0,
        )
        for model, counts in usage.items()
    }


def cost_of(call):
    costs = call["summary"]["weave"].get("costs") or {}
    return round(
        sum(
            each["prompt_tokens_total_cost"] + each["completion_tokens_total_cost"]
            for each in costs.values()
        ),
        9,
    )


def main():
    ask("/cost/create", costs={"tiny": {
        "prompt_token_cost": 0.001, "completion_token_cost": 0.01, "effective_date": "2020-01-01T00:00:00Z",
    }})
    client = openai.OpenAI(timeout=WAIT_S, max_retries=0)
    answers = globals()[f"trace_by_{TRACED_BY}"](client)
    check("answers", [answer.choices[0].message.content for answer in answers], ["3 plus 4 is 7.", "2 plus 2 is 4."])

    calls = read_calls(4)
    check("one call a step", len(calls), 4)
    roots = [call for call in calls if call["parent_id"] is None]
    check("one root", [name_of(call) for call in roots], ["answer_all"])
    steps = [call for call in calls if call["parent_id"] is not None]
    check("all below it", {call["parent_id"] for call in steps}, {roots[0]["id"]})
    check("one trace", len({call["trace_id"] for call in calls}), 1)
    check("the refusal", [bool(call["exception"]) for call in steps], [False, False, True])

    used = [(answer.usage.prompt_tokens, answer.usage.completion_tokens) for answer in answers]
    told = [usage_of(call) for call in steps[:2]]
    check("tokens", told, [{"tiny": tokens} for tokens in used])
    costs = [round(prompt * 0.001 + completion * 0.01, 9) for prompt, completion in used]
    check("costs", [cost_of(call) for call in steps[:2]], costs)
    check("models", [call["inputs"]["model"] for call in steps[:2]], ["tiny", "tiny"])
    asked = [call["inputs"]["messages"] for call in steps[:2]]
    check(
        "questions",
        [[(message["role"], message["content"]) for message in messages] for messages in asked],
        [[("user", question)] for question in QUESTIONS],
    )
    said = [call["output"]["choices"][0]["message"] for call in steps[:2]]
    check("roles", [message["role"] for message in said], ["assistant", "assistant"])
    check("what was said", [message["content"] for message in said], [answer.choices[0].message.content for answer in answers])

    usage = json.loads(ask("/calls/usage", call_ids=[roots[0]["id"]], include_costs=True))
    total = usage["call_usage"][roots[0]["id"]]["tiny"]
    check(
        "the tree adds up",
        (total["requests"], total["prompt_tokens"], total["completion_tokens"]),
        (2, sum(prompt for prompt, _ in used), sum(completion for _, completion in used)),
    )


main()
