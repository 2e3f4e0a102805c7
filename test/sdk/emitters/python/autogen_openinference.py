import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation import using_attributes
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor
from steps import CONVERSATION, FAIL, PLAIN, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)
INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": "unknown",
}


def ask(question, is_stream=False):
    async def run():
        model = OpenAIChatCompletionClient(model="gpt-5", model_info=INFO, max_retries=0)
        agent = AssistantAgent(
            "forecaster",
            model,
            tools=[get_weather],
            model_client_stream=is_stream,
            reflect_on_tool_use=True,
        )
        if not is_stream:
            return await agent.run(task=question)
        async for _ in agent.run_stream(task=question):
            pass

    asyncio.run(run())


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER)


def stream():
    ask(STREAM, is_stream=True)


def fail():
    ask(FAIL)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, tool, stream, fail)
finish(close)
