"""autogen-ext, with an agent of autogen-agentchat."""

import pydantic
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from cells import API_KEY, BASE_URL, QUESTION, add, check_pieces, check_text, check_use, run

INFO = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "family": "unknown",
    "structured_output": True,
}


class Sum(pydantic.BaseModel):
    result: int


def client_of(model):
    return OpenAIChatCompletionClient(
        model=model, base_url=BASE_URL, api_key=API_KEY, model_info=INFO, temperature=0
    )


MESSAGES = [UserMessage(content=QUESTION, source="user")]


async def plain(model):
    check_text((await client_of(model).create(MESSAGES)).content)


async def stream(model):
    pieces = [piece async for piece in client_of(model).create_stream(MESSAGES)]
    check_pieces([piece for piece in pieces if isinstance(piece, str)])


async def tools(model):
    agent = AssistantAgent(
        "a", model_client=client_of(model), tools=[add], system_message=None
    )
    await agent.run(task=QUESTION)
    check_use()


async def structured(model):
    made = await client_of(model).create(MESSAGES, json_output=Sum)
    Sum.model_validate_json(made.content)


run(plain=plain, stream=stream, tools=tools, structured=structured)
