import asyncio
import os

from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatClient
from steps import FAIL, PLAIN, STREAM, WEATHER, finish, get_weather, open_providers, run_steps

if os.environ.get("API") == "chat":
    from agent_framework.openai import OpenAIChatCompletionClient as OpenAIChatClient

provider, close = open_providers()
enable_instrumentation(enable_sensitive_data=True)
agent = Agent(client=OpenAIChatClient(model="gpt-5"), name="forecaster", tools=[get_weather])
session = agent.create_session()
loop = asyncio.new_event_loop()


def plain():
    loop.run_until_complete(agent.run(PLAIN, session=session))


def tool():
    loop.run_until_complete(agent.run(WEATHER, session=session))


def stream():
    async def run():
        async for _ in agent.run(STREAM, stream=True, session=session):
            pass

    loop.run_until_complete(run())


def fail():
    loop.run_until_complete(agent.run(FAIL))


run_steps(tool, plain, stream, fail)
finish(close)
