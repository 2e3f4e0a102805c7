"""A program on the unmodified Python package openai, started by run-python.sh.

It talks to the server through a relayed model, and asks the upstream behind it what it saw. Exit code 0
means that all of it was right.
"""

import asyncio
import json
import os
import time
import urllib.request

import openai
import pydantic

MODEL = "org/relayed"
UPSTREAM = os.environ["UPSTREAM_URL"]
# Longer than anything here takes: what ends before was ended by something else.
WAIT_S = 20

client = openai.OpenAI(timeout=WAIT_S, max_retries=0)


class Person(pydantic.BaseModel):
    name: str


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {name}: {found!r} is not {expected!r}")
    print(f"ok: {name}")


def check_soon(name, find, expected):
    end = time.monotonic() + WAIT_S
    while find() != expected and time.monotonic() < end:
        time.sleep(0.02)
    check(name, find(), expected)


def seen():
    """What the upstream saw: answers still open, and how often each word came."""
    with urllib.request.urlopen(UPSTREAM + "/seen", timeout=WAIT_S) as answer:
        return json.load(answer)


def open_count():
    return seen()["open"]


def ask(word, **more):
    return {"model": MODEL, "messages": [{"role": "user", "content": word}], **more}


def failure_of(run):
    try:
        run()
    except openai.APIError as error:
        return error
    raise SystemExit("not ok: nothing was raised")


TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]


def check_answers():
    answer = client.chat.completions.create(**ask("hello", seed=2**63 - 1))
    check("a completion", answer.choices[0].message.content, "Hello")
    check("its usage", answer.usage.total_tokens, 10)
    check("its request id", bool(answer._request_id), True)

    chunks = list(
        client.chat.completions.create(
            **ask("hello", stream=True, stream_options={"include_usage": True})
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    check("a stream", text, "Hello")
    check("its usage, as asked", chunks[-1].usage.total_tokens, 10)
    chunks = list(client.chat.completions.create(**ask("hello", stream=True)))
    check("no usage unasked", [chunk.usage for chunk in chunks if chunk.usage], [])

    named = client.with_options(project="acme/python").chat.completions.with_raw_response
    check("a recorded completion", "x-weft-call-id" in named.create(**ask("hello")).headers, True)


def check_tools():
    answer = client.chat.completions.create(**ask("tool", tools=TOOLS, tool_choice="required"))
    call = answer.choices[0].message.tool_calls[0]
    check("a tool call", (call.id, call.function.arguments), ("t-1", '{"a":1,"b":2}'))
    with client.chat.completions.stream(**ask("tool", tools=TOOLS)) as stream:
        final = stream.get_final_completion()
    call = final.choices[0].message.tool_calls[0]
    check("a streamed tool call", (call.id, call.function.arguments), ("t-1", '{"a":1,"b":2}'))


def check_schema():
    answer = client.chat.completions.parse(**ask("json", response_format=Person))
    check("an answer of a schema", answer.choices[0].message.parsed, Person(name="Ada"))


def check_models():
    check("the models", [model.id for model in client.models.list()], [MODEL, "tiny"])
    check("one model", client.models.retrieve(MODEL).id, MODEL)


def check_retries():
    patient = client.with_options(max_retries=2)
    answer = patient.chat.completions.create(**ask("flaky"))
    check("tried again after a 500", answer.choices[0].message.content, "Hello")
    check("with two requests", seen()["counts"]["flaky"], 2)

    error = failure_of(lambda: patient.chat.completions.create(**ask("down")))
    check("a failing upstream", (type(error), error.code), (openai.InternalServerError, "upstream_error"))
    check("is not tried again on top of the server's tries", seen()["counts"]["down"], 3)


def check_errors():
    error = failure_of(lambda: client.chat.completions.create(**ask("wrong")))
    check("a wrong field", (type(error), error.param), (openai.BadRequestError, "top_k"))
    error = failure_of(lambda: list(client.chat.completions.create(**ask("cut", stream=True))))
    check("a stream that breaks off", error.code, "upstream_error")
    strange = client.with_options(api_key="wk_nobody")
    error = failure_of(lambda: strange.chat.completions.create(**ask("hello")))
    check("a wrong key", type(error), openai.AuthenticationError)


def check_leaving():
    error = failure_of(lambda: client.with_options(timeout=1).chat.completions.create(**ask("slow")))
    check("a timeout", type(error), openai.APITimeoutError)
    check_soon("which the upstream saw", open_count, 0)

    with client.chat.completions.create(**ask("hang", stream=True)) as stream:
        check("the first piece of a stream", next(iter(stream)).choices[0].delta.content, "a")
        check("while it is open", open_count(), 1)
    check_soon("which closes with its reader", open_count, 0)

    async def leave(word, **more):
        async with openai.AsyncOpenAI(timeout=WAIT_S, max_retries=0) as waiting:
            task = asyncio.create_task(waiting.chat.completions.create(**ask(word, **more)))
            while await asyncio.to_thread(open_count) == 0:
                await asyncio.sleep(0.02)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return True

    check("a cancelled task", asyncio.run(leave("slow")), True)
    check_soon("which the upstream saw as well", open_count, 0)


check_answers()
check_tools()
check_schema()
check_models()
check_retries()
check_errors()
check_leaving()
