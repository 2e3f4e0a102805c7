"""anthropic: messages with its helper of streams, its runner of tools and its parser, counts and the list of models."""

import anthropic
import pydantic
from cells import ADD, API_KEY, BASE_URL, QUESTION, add, check_pieces, check_text, check_use, run

client = anthropic.Anthropic(
    base_url=BASE_URL.removesuffix("/v1"), api_key=API_KEY, max_retries=0
)
MESSAGES = [{"role": "user", "content": QUESTION}]


class Sum(pydantic.BaseModel):
    result: int


def plain(model):
    answer = client.messages.create(model=model, max_tokens=64, messages=MESSAGES)
    check_text(answer.content[0].text)
    assert answer._request_id and answer.usage.input_tokens > 0


def stream(model):
    with client.messages.stream(model=model, max_tokens=64, messages=MESSAGES) as events:
        check_pieces(list(events.text_stream))
        assert events.get_final_message().stop_reason == "end_turn"


def tools(model):
    runner = client.beta.messages.tool_runner(
        model=model, max_tokens=256, messages=MESSAGES, tools=[anthropic.beta_tool(add)]
    )
    check_text(runner.until_done().content[0].text)
    check_use()


def structured(model):
    answer = client.messages.parse(
        model=model, max_tokens=64, messages=MESSAGES, output_format=Sum
    )
    assert isinstance(answer.parsed_output.result, int)


def tokens(model):
    tool = {"name": ADD["name"], "input_schema": ADD["parameters"]}
    counted = client.messages.count_tokens(model=model, messages=MESSAGES, tools=[tool])
    assert counted.input_tokens > 0


def models(model):
    assert model in [listed.id for listed in client.models.list()]
    assert client.models.retrieve(model).type == "model"


run(
    plain=plain, stream=stream, tools=tools, structured=structured, tokens=tokens, models=models
)
