"""litellm, by its provider openai."""

import litellm
import pydantic
from cells import API_KEY, BASE_URL, QUESTION, TEXT, TOOL, check_call, check_pieces, check_text, run


class Sum(pydantic.BaseModel):
    result: int


def ask(model, **more):
    messages = [{"role": "user", "content": QUESTION}]
    settings = {"api_base": BASE_URL, "api_key": API_KEY, "num_retries": 0}
    return litellm.completion(model=f"openai/{model}", messages=messages, **settings, **more)


def plain(model):
    check_text(ask(model).choices[0].message.content)


def stream(model):
    check_pieces([chunk.choices[0].delta.content for chunk in ask(model, stream=True)])


def tools(model):
    call = ask(model, tools=[TOOL], tool_choice="required").choices[0].message.tool_calls[0]
    check_call(call.function.name, call.function.arguments)


def structured(model):
    Sum.model_validate_json(ask(model, response_format=Sum).choices[0].message.content)


def embeddings(model):
    made = litellm.embedding(
        model=f"openai/{model}", input=["a cat"], api_base=BASE_URL, api_key=API_KEY
    )
    assert len(made.data[0]["embedding"]) == 128


def completions(model):
    made = litellm.text_completion(
        model=f"text-completion-openai/{model}",
        prompt=TEXT,
        api_base=BASE_URL,
        api_key=API_KEY,
    )
    check_text(made.choices[0].text)


run(
    plain=plain,
    stream=stream,
    tools=tools,
    structured=structured,
    embeddings=embeddings,
    completions=completions,
)
