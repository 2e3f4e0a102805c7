"""openai-agents (Python), by responses as it does unasked, and by chat."""

import pydantic
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool
from agents import set_tracing_disabled
from cells import QUESTION, add, check_pieces, check_text, check_use, run
from openai import AsyncOpenAI

set_tracing_disabled(True)


class Sum(pydantic.BaseModel):
    result: int


def agent_of(model, **more):
    return Agent(name="a", model=model, model_settings=ModelSettings(temperature=0), **more)


async def plain(model):
    check_text((await Runner.run(agent_of(model), QUESTION)).final_output)


async def stream(model):
    pieces = []
    async for event in Runner.run_streamed(agent_of(model), QUESTION).stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            pieces.append(event.data.delta)
    check_pieces(pieces)


async def tools(model):
    agent = agent_of(model, tools=[function_tool(add)])
    check_text((await Runner.run(agent, QUESTION, max_turns=4)).final_output)
    check_use()


async def structured(model):
    made = await Runner.run(agent_of(model, output_type=Sum), QUESTION)
    assert isinstance(made.final_output, Sum)


async def chat(model):
    asked = OpenAIChatCompletionsModel(model=model, openai_client=AsyncOpenAI(max_retries=0))
    agent = agent_of(asked, tools=[function_tool(add)])
    check_text((await Runner.run(agent, QUESTION, max_turns=4)).final_output)
    check_use()


run(plain=plain, stream=stream, tools=tools, structured=structured, chat=chat)
