"""instructor over the package openai."""

import instructor
import openai
import pydantic
from cells import QUESTION, check_text, run


class Sum(pydantic.BaseModel):
    result: int


MESSAGES = [{"role": "user", "content": QUESTION}]


def ask(model, mode):
    client = instructor.from_openai(openai.OpenAI(max_retries=0), mode=mode)
    made = client.chat.completions.create(
        model=model, messages=MESSAGES, response_model=Sum, max_retries=1
    )
    assert isinstance(made, Sum)


def plain(model):
    client = instructor.from_openai(openai.OpenAI(max_retries=0))
    answer = client.chat.completions.create(model=model, messages=MESSAGES, response_model=None)
    check_text(answer.choices[0].message.content)


def stream(model):
    client = instructor.from_openai(openai.OpenAI(max_retries=0), mode=instructor.Mode.TOOLS)
    pieces = list(
        client.chat.completions.create_partial(model=model, messages=MESSAGES, response_model=Sum)
    )
    assert isinstance(pieces[-1].result, int)


def tools(model):
    ask(model, instructor.Mode.TOOLS)


def structured(model):
    ask(model, instructor.Mode.JSON_SCHEMA)


run(plain=plain, stream=stream, tools=tools, structured=structured)
