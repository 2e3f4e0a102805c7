"""llm, by its models of the OpenAI protocol."""

import json

import llm
from cells import API_KEY, BASE_URL, QUESTION, add, check_pieces, check_text, check_use, run
from llm.default_plugins.openai_models import Chat

SCHEMA = {
    "type": "object",
    "properties": {"result": {"type": "integer"}},
    "required": ["result"],
    "additionalProperties": False,
}


def model_of(model):
    asked = Chat(model, api_base=BASE_URL, supports_schema=True, supports_tools=True)
    asked.key = API_KEY
    return asked


def plain(model):
    check_text(model_of(model).prompt(QUESTION, stream=False).text())


def stream(model):
    check_pieces(list(model_of(model).prompt(QUESTION)))


def tools(model):
    chain = model_of(model).chain(QUESTION, tools=[llm.Tool.function(add)])
    check_text(chain.text())
    check_use()


def structured(model):
    text = model_of(model).prompt(QUESTION, schema=SCHEMA).text()
    assert isinstance(json.loads(text)["result"], int)


run(plain=plain, stream=stream, tools=tools, structured=structured)
