"""The steps by pydantic-ai, with its own instrumentation or that of OpenInference on top."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from steps import FAIL, PLAIN, STREAM, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
if os.environ.get("WITH") == "openinference":
    from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor

    # It rewrites spans before the exporter's processor, which must come after it.
    provider._active_span_processor._span_processors = (
        OpenInferenceSpanProcessor(),
        *provider._active_span_processor._span_processors,
    )
Agent.instrument_all(InstrumentationSettings(include_content=True))
model = AnthropicModel("claude-sonnet-4-5") if os.environ.get("API") == "anthropic" else OpenAIChatModel("gpt-5")
agent = Agent(model, name="forecaster", tools=[get_weather], retries=0)


def plain():
    agent.run_sync(PLAIN)


def tool():
    agent.run_sync(WEATHER)


def stream():
    async def run():
        async with agent.run_stream(STREAM) as result:
            async for _ in result.stream_text():
                pass

    asyncio.run(run())


def fail():
    agent.run_sync(FAIL)


run_steps(plain, tool, stream, fail)
finish(close)
