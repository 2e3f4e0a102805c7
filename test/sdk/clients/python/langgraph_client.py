"""langgraph: an agent that runs its tool until there is an answer."""

import pydantic
from cells import QUESTION, add, check_pieces, check_text, check_use, run
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

MESSAGES = {"messages": [{"role": "user", "content": QUESTION}]}


class Sum(pydantic.BaseModel):
    result: int


def agent_of(model, tools, **more):
    return create_react_agent(ChatOpenAI(model=model, max_retries=0, temperature=0), tools, **more)


def plain(model):
    check_text(agent_of(model, []).invoke(MESSAGES)["messages"][-1].content)


def stream(model):
    pieces = agent_of(model, []).stream(MESSAGES, stream_mode="messages")
    check_pieces([piece.content for piece, _ in pieces])


def tools(model):
    answer = agent_of(model, [add]).invoke(MESSAGES, {"recursion_limit": 6})
    check_use()
    check_text(answer["messages"][-1].content)


def structured(model):
    answer = agent_of(model, [], response_format=Sum).invoke(MESSAGES)
    assert isinstance(answer["structured_response"], Sum)


run(plain=plain, stream=stream, tools=tools, structured=structured)
