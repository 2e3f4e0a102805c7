"""The steps by LangChain's model and agent, below an instrumentor of choice."""

from langchain.agents import create_agent
from langchain_core.tools import tool as as_tool
from langchain_openai import ChatOpenAI
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

config = {"metadata": {"session_id": CONVERSATION, "thread_id": CONVERSATION, "user_id": USER}}


def model():
    return ChatOpenAI(model="gpt-5", max_retries=0, stream_usage=True)


def plain():
    model().invoke(PLAIN, config)


def tool():
    agent = create_agent(model(), [as_tool(get_weather)])
    agent.invoke({"messages": [{"role": "user", "content": WEATHER}]}, config)


def stream():
    for _ in model().stream(STREAM, config):
        pass


def fail():
    model().invoke(FAIL, config)


STEPS = [plain, tool, stream, fail]


def main(instrument, around=None, flush=lambda: None):
    provider, close_providers = open_providers()

    def close():
        flush()
        close_providers()

    instrument(provider)
    if around is None:
        run_steps(*STEPS)
    else:
        with around():
            run_steps(*STEPS)
    finish(close)
