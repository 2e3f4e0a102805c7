"""pydantic-ai, by chat and by responses."""

import pydantic
from cells import QUESTION, add, check_pieces, check_text, check_use, run
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel


class Sum(pydantic.BaseModel):
    result: int


SETTINGS = {"temperature": 0}


async def plain(model):
    check_text((await Agent(OpenAIChatModel(model)).run(QUESTION)).output)


async def stream(model):
    async with Agent(OpenAIChatModel(model)).run_stream(QUESTION) as answer:
        check_pieces([piece async for piece in answer.stream_text(delta=True, debounce_by=None)])


async def tools(model):
    agent = Agent(OpenAIChatModel(model), tools=[add], model_settings=SETTINGS)
    check_text((await agent.run(QUESTION)).output)
    check_use()


async def structured(model):
    agent = Agent(OpenAIChatModel(model), output_type=NativeOutput(Sum))
    assert isinstance((await agent.run(QUESTION)).output, Sum)


async def responses(model):
    agent = Agent(OpenAIResponsesModel(model), tools=[add], model_settings=SETTINGS)
    check_text((await agent.run(QUESTION)).output)
    check_use()


run(plain=plain, stream=stream, tools=tools, structured=structured, responses=responses)
