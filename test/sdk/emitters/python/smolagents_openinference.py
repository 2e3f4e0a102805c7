from openinference.instrumentation import using_attributes
from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIModel, ToolCallingAgent
from smolagents import tool as as_tool
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
SmolagentsInstrumentor().instrument(tracer_provider=provider)
model = OpenAIModel("gpt-5", client_kwargs={"max_retries": 0})


def agent(**more):
    return ToolCallingAgent(tools=[as_tool(get_weather)], model=model, max_steps=3, verbosity_level=0, **more)


def plain():
    agent().run(PLAIN)


def tool():
    agent().run(WEATHER)


def stream():
    for _ in agent(stream_outputs=True).run(STREAM, stream=True):
        pass


def fail():
    agent().run(FAIL)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, tool, stream, fail)
finish(close)
