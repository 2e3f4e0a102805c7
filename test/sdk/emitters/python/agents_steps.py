"""The steps by openai-agents, below an instrumentor of choice."""

import asyncio
import os

from agents import Agent, RunConfig, Runner, function_tool, set_default_openai_api
from agents import set_trace_processors
from steps import CONVERSATION, FAIL, PLAIN, STREAM, WEATHER, finish, get_weather, open_providers, run_steps

agent = Agent(name="forecaster", model="gpt-5", instructions="Be brief.", tools=[function_tool(get_weather)])
config = RunConfig(group_id=CONVERSATION, workflow_name="forecast")


loop = asyncio.new_event_loop()


def ask(question):
    loop.run_until_complete(Runner.run(agent, question, run_config=config))


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER)


def stream():
    async def run():
        result = Runner.run_streamed(agent, STREAM, run_config=config)
        async for _ in result.stream_events():
            pass

    loop.run_until_complete(run())


def fail():
    ask(FAIL)


STEPS = [plain, tool, stream, fail]


def prepare():
    # The library's own exporter would ask another host.
    set_trace_processors([])
    if os.environ.get("API") == "chat":
        set_default_openai_api("chat_completions")


def main(instrument, around=None):
    prepare()
    provider, close = open_providers()
    instrument(provider)
    if around is None:
        run_steps(*STEPS)
    else:
        with around():
            run_steps(*STEPS)
    finish(close)
