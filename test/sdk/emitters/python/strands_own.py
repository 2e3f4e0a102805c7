from steps import CONVERSATION, FAIL, PLAIN, USER, WEATHER, finish, get_weather, open_providers, run_steps
from strands import Agent
from strands import tool as as_tool
from strands.models.openai import OpenAIModel

provider, close = open_providers()


def agent():
    return Agent(
        name="forecaster",
        model=OpenAIModel(model_id="gpt-5", client_args={"max_retries": 0}),
        tools=[as_tool(get_weather)],
        callback_handler=None,
        trace_attributes={"session.id": CONVERSATION, "user.id": USER},
    )


def plain():
    agent()(PLAIN)


def tool():
    agent()(WEATHER)


def fail():
    agent()(FAIL)


run_steps(plain, tool, fail)
finish(close)
