"""Google's Agent Development Kit, which has its own spans and, of messages, records of the log; WITH=openinference: those of that."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
if os.environ.get("WITH") == "openinference":
    from openinference.instrumentation.google_adk import GoogleADKInstrumentor

    GoogleADKInstrumentor().instrument(tracer_provider=provider)
agent = LlmAgent(name="forecaster", model="gemini-2.5-pro", instruction="Be brief.", tools=[get_weather])
runner = InMemoryRunner(agent=agent, app_name="program")
loop = asyncio.new_event_loop()
loop.run_until_complete(
    runner.session_service.create_session(app_name="program", user_id=USER, session_id=CONVERSATION)
)


def ask(question, mode=StreamingMode.NONE):
    async def run():
        content = types.Content(role="user", parts=[types.Part(text=question)])
        config = RunConfig(streaming_mode=mode)
        async for _ in runner.run_async(
            user_id=USER, session_id=CONVERSATION, new_message=content, run_config=config
        ):
            pass

    loop.run_until_complete(run())


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER)


def stream():
    ask(STREAM, StreamingMode.SSE)


def fail():
    ask(FAIL)


# Each run in a session of more than one turn has a tool's result before it.
run_steps(tool, plain, stream, fail)
finish(close)
