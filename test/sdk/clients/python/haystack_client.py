"""haystack."""

import json

from cells import ADD, API_KEY, BASE_URL, QUESTION, add, check_call, check_pieces, check_text, run
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret

SCHEMA = {
    "type": "object",
    "properties": {"result": {"type": "integer"}},
    "required": ["result"],
    "additionalProperties": False,
}
SETTINGS = {"api_base_url": BASE_URL, "api_key": Secret.from_token(API_KEY), "max_retries": 0}


def ask(model, **more):
    asked = OpenAIChatGenerator(model=model, **SETTINGS, **more)
    return asked.run([ChatMessage.from_user(QUESTION)])["replies"][0]


def plain(model):
    check_text(ask(model).text)


def stream(model):
    pieces = []
    ask(model, streaming_callback=lambda piece: pieces.append(piece.content))
    check_pieces(pieces)


def tools(model):
    answer = ask(
        model,
        tools=[Tool(**ADD, function=add)],
        generation_kwargs={"tool_choice": "required"},
    )
    check_call(answer.tool_calls[0].tool_name, answer.tool_calls[0].arguments)


def structured(model):
    form = {
        "type": "json_schema",
        "json_schema": {"name": "sum", "strict": True, "schema": SCHEMA},
    }
    text = ask(model, generation_kwargs={"response_format": form}).text
    assert isinstance(json.loads(text)["result"], int)


def embeddings(model):
    made = OpenAITextEmbedder(model=model, **SETTINGS).run("a cat")
    assert len(made["embedding"]) == 128


run(plain=plain, stream=stream, tools=tools, structured=structured, embeddings=embeddings)
