import os

os.environ.update(HAYSTACK_TELEMETRY_ENABLED="False")

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.core.pipeline import Pipeline
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from openinference.instrumentation import using_attributes
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
from openinference.instrumentation.haystack import HaystackInstrumentor

HaystackInstrumentor().instrument(tracer_provider=provider)


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


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, tool, stream, fail)
finish(close)
