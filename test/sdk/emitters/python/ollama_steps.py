"""The steps by Ollama's client; WITH=openinference or openllmetry names the instrumentor."""

import os

import ollama
from steps import (
    CONVERSATION,
    FAIL,
    PLAIN,
    PROVIDER,
    STREAM,
    SUNNY,
    TOOL_CHAT,
    USER,
    WEATHER,
    finish,
    open_providers,
    run_steps,
)

provider, close = open_providers()
if os.environ.get("WITH") == "openinference":
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.ollama import OllamaInstrumentor
else:
    from contextlib import nullcontext

    from opentelemetry.instrumentation.ollama import OllamaInstrumentor

    def using_attributes(**_):
        return nullcontext()


OllamaInstrumentor().instrument(tracer_provider=provider)
client = ollama.Client(host=PROVIDER)


def ask(*messages, **more):
    return client.chat(model="llama3.2", messages=list(messages), **more)


def user(content):
    return {"role": "user", "content": content}


def plain():
    ask(user(PLAIN))


def tool():
    first = ask(user(WEATHER), tools=[TOOL_CHAT]).message
    result = {"role": "tool", "tool_name": "get_weather", "content": SUNNY}
    ask(user(WEATHER), first, result, tools=[TOOL_CHAT])


def stream():
    for _ in ask(user(STREAM), stream=True):
        pass


def fail():
    ask(user(FAIL))


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, tool, stream, fail)
finish(close)
