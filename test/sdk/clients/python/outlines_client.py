"""outlines, by its models of OpenAI and of vLLM."""

import re

import openai
import outlines
import pydantic
from cells import QUESTION, Cannot, check_pieces, check_text, run


class Sum(pydantic.BaseModel):
    result: int


client = openai.OpenAI(max_retries=0)


def plain(model):
    check_text(outlines.from_openai(client, model)(QUESTION))


def stream(model):
    check_pieces(list(outlines.from_openai(client, model).stream(QUESTION)))


def tools(_):
    raise Cannot("It has no tools.")


def structured(model):
    Sum.model_validate_json(outlines.from_openai(client, model)(QUESTION, Sum))


def vllm(model):
    asked = outlines.from_vllm(client, model)
    Sum.model_validate_json(asked(QUESTION, Sum, max_tokens=40))
    assert re.fullmatch("[1-9][0-9]", asked(QUESTION, outlines.regex("[1-9][0-9]")))
    assert asked(QUESTION, outlines.types.CFG('root ::= "yes" | "no"')) in ("yes", "no")


run(plain=plain, stream=stream, tools=tools, structured=structured, vllm=vllm)
