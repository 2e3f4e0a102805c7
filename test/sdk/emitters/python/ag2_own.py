"""AG2 with its own telemetry."""

import asyncio

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.middleware.builtin.telemetry import TelemetryMiddleware
from steps import CONVERSATION, FAIL, PLAIN, PROVIDER, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
loop = asyncio.new_event_loop()


# There is no other way to name them.
SENT = {"session.id": CONVERSATION, "user.id": USER}


def ask(question, streaming=False):
    async def run():
        agent = Agent(
            "forecaster",
            "Be brief.",
            config=OpenAIConfig(model="gpt-5", api_key="none", base_url=PROVIDER + "/v1", max_retries=0, streaming=streaming),
            tools=[get_weather],
            middleware=[TelemetryMiddleware(tracer_provider=provider, agent_name="forecaster", span_attributes=SENT)],
        )
        await agent.ask(question)

    loop.run_until_complete(run())


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER)


def stream():
    ask(STREAM, streaming=True)


def fail():
    ask(FAIL)


run_steps(plain, tool, stream, fail)
finish(close)
