"""LiveKit's agents, in a session of texts without a room, which has spans of its own."""

import asyncio

from livekit.agents import Agent, AgentSession, APIConnectOptions, function_tool
from livekit.agents.telemetry import set_tracer_provider
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.plugins import openai
from steps import CONVERSATION, FAIL, PLAIN, PROVIDER, STREAM, SUNNY, USER, WEATHER, finish, open_providers, run_steps

provider, close = open_providers()
# There is no other way to name them.
set_tracer_provider(provider, metadata={"session.id": CONVERSATION, "user.id": USER})
loop = asyncio.new_event_loop()


@function_tool
async def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The name of the city.
    """
    return SUNNY


def ask(question):
    async def run():
        options = SessionConnectOptions(llm_conn_options=APIConnectOptions(max_retry=0))
        llm = openai.LLM(model="gpt-5", base_url=PROVIDER + "/v1", api_key="none")
        async with AgentSession(llm=llm, conn_options=options) as session:
            await session.start(Agent(instructions="Be brief.", tools=[get_weather]))
            await session.run(user_input=question)

    loop.run_until_complete(run())


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER)


# All of its answers are streams.
def stream():
    ask(STREAM)


def fail():
    ask(FAIL)


run_steps(plain, tool, stream, fail)
finish(close)
