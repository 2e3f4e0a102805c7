import os

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from openinference.instrumentation.agno import AgnoInstrumentor
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
AgnoInstrumentor().instrument(tracer_provider=provider)
agent = Agent(name="forecaster", model=OpenAIChat(id="gpt-5", max_retries=0), tools=[get_weather], telemetry=False)
sent = {"session_id": CONVERSATION, "user_id": USER}


def plain():
    agent.run(PLAIN, **sent)


def tool():
    agent.run(WEATHER, **sent)


def stream():
    for _ in agent.run(STREAM, stream=True, **sent):
        pass


def fail():
    if agent.run(FAIL, **sent).status == "ERROR":
        raise RuntimeError("The run failed.")


run_steps(plain, tool, stream, fail)
finish(close)
