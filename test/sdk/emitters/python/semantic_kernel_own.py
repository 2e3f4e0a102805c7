import os

os.environ.update(
    SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS="true",
    SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE="true",
)

import asyncio
import logging

from opentelemetry.sdk._logs import LoggingHandler
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function
from steps import FAIL, PLAIN, STREAM, WEATHER, finish, open_providers, run_steps
from steps import get_weather as weather

provider, close = open_providers()
# Its events are records of Python's logging.
handler = LoggingHandler()
handler.addFilter(logging.Filter("semantic_kernel"))
logging.getLogger().addHandler(handler)
logging.getLogger().setLevel(logging.INFO)


class Weather:
    @kernel_function(name="get_weather", description="The weather of a city.")
    def get_weather(self, city: str) -> str:
        return weather(city)


agent = ChatCompletionAgent(
    kernel=Kernel(), name="forecaster", service=OpenAIChatCompletion(ai_model_id="gpt-5"), plugins=[Weather()]
)
loop = asyncio.new_event_loop()


def plain():
    loop.run_until_complete(agent.get_response(PLAIN))


def tool():
    loop.run_until_complete(agent.get_response(WEATHER))


def stream():
    async def run():
        async for _ in agent.invoke_stream(STREAM):
            pass

    loop.run_until_complete(run())


def fail():
    loop.run_until_complete(agent.get_response(FAIL))


run_steps(plain, tool, stream, fail)
finish(close)
