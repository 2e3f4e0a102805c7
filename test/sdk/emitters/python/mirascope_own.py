"""Mirascope, whose models have spans of their own."""

import os

from mirascope import llm, ops
from steps import CONVERSATION, FAIL, PLAIN, STREAM, SUNNY, WEATHER, finish, open_providers, run_steps

provider, close = open_providers()
ops.configure(tracer_provider=provider)
ops.instrument_llm()
model = llm.model("openai/gpt-5" + os.environ.get("SUFFIX", ""))


@llm.tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return SUNNY


@ops.trace
def plain():
    model.call(PLAIN)


@ops.trace
def tool():
    answer = model.call(WEATHER, tools=[get_weather])
    answer.resume(answer.execute_tools())


@ops.trace
def stream():
    for _ in model.stream(STREAM).text_stream():
        pass


@ops.trace
def fail():
    model.call(FAIL)


with ops.session(id=CONVERSATION):
    run_steps(plain, tool, stream, fail)
finish(close)
