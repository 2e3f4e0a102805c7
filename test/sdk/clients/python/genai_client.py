"""google-genai: generations with its automatic calls of functions and its schemas, and counts of tokens."""

import pydantic
from cells import API_KEY, BASE_URL, QUESTION, add, check_pieces, check_text, check_use, run
from google import genai
from google.genai import types

client = genai.Client(
    api_key=API_KEY, http_options=types.HttpOptions(base_url=BASE_URL.removesuffix("/v1"))
)


class Sum(pydantic.BaseModel):
    result: int


def plain(model):
    answer = client.models.generate_content(model=model, contents=QUESTION)
    check_text(answer.text)
    assert answer.usage_metadata.prompt_token_count > 0


def stream(model):
    chunks = list(client.models.generate_content_stream(model=model, contents=QUESTION))
    check_pieces([chunk.text for chunk in chunks])
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP


def tools(model):
    config = types.GenerateContentConfig(tools=[add])
    check_text(client.models.generate_content(model=model, contents=QUESTION, config=config).text)
    check_use()


def structured(model):
    config = types.GenerateContentConfig(
        response_mime_type="application/json", response_schema=Sum
    )
    answer = client.models.generate_content(model=model, contents=QUESTION, config=config)
    assert isinstance(answer.parsed.result, int)


def tokens(model):
    assert client.models.count_tokens(model=model, contents=QUESTION).total_tokens > 0


run(plain=plain, stream=stream, tools=tools, structured=structured, tokens=tokens)
