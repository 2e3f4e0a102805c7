"""The steps by Haystack; WITH=openinference names the instrumentor, which is the tracer of Haystack otherwise."""

import contextlib
import os

os.environ.update(HAYSTACK_TELEMETRY_ENABLED="False")

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.pipeline import Pipeline
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
context = contextlib.nullcontext()
if os.environ.get("WITH") == "openinference":
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)
    context = using_attributes(session_id=CONVERSATION, user_id=USER)
else:
    from haystack import tracing
    from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer

    tracing.enable_tracing(OpenTelemetryTracer(provider.get_tracer("haystack")))
    tracing.tracer.is_content_tracing_enabled = True


def ask(question, **more):
    pipeline = Pipeline()
    pipeline.add_component("llm", OpenAIChatGenerator(model="gpt-5", max_retries=0, **more))
    pipeline.run({"llm": {"messages": [ChatMessage.from_user(question)]}})


def plain():
    ask(PLAIN)


def tool():
    agent = Agent(
        chat_generator=OpenAIChatGenerator(model="gpt-5", max_retries=0),
        tools=[create_tool_from_function(get_weather)],
    )
    agent.run(messages=[ChatMessage.from_user(WEATHER)])


def stream():
    ask(
        STREAM,
        streaming_callback=lambda chunk: None,
        generation_kwargs={"stream_options": {"include_usage": True}},
    )


def fail():
    ask(FAIL)


with context:
    run_steps(plain, tool, stream, fail)
finish(close)
