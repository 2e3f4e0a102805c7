"""openai (PyPI): chat completions, with its own parser of structured answers."""

import openai
import pydantic
from cells import QUESTION, TOOL, check_call, check_pieces, check_text, run

client = openai.OpenAI(max_retries=0)
MESSAGES = [{"role": "user", "content": QUESTION}]


class Sum(pydantic.BaseModel):
    result: int


def plain(model):
    answer = client.chat.completions.create(model=model, messages=MESSAGES)
    check_text(answer.choices[0].message.content)


def stream(model):
    chunks = client.chat.completions.create(model=model, messages=MESSAGES, stream=True)
    check_pieces([chunk.choices[0].delta.content for chunk in chunks if chunk.choices])


def tools(model):
    answer = client.chat.completions.create(
        model=model, messages=MESSAGES, tools=[TOOL], tool_choice="required"
    )
    call = answer.choices[0].message.tool_calls[0]
    check_call(call.function.name, call.function.arguments)
    reply = {"role": "tool", "tool_call_id": call.id, "content": '{"result": 7}'}
    messages = [*MESSAGES, answer.choices[0].message, reply]
    check_text(
        client.chat.completions.create(model=model, messages=messages, tools=[TOOL])
        .choices[0]
        .message.content
    )


def structured(model):
    answer = client.chat.completions.parse(model=model, messages=MESSAGES, response_format=Sum)
    assert isinstance(answer.choices[0].message.parsed, Sum)


run(plain=plain, stream=stream, tools=tools, structured=structured)
