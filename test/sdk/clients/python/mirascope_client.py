"""mirascope, by its provider of OpenAI's chats and responses."""

import pydantic
from cells import API_KEY, BASE_URL, QUESTION, add, check_pieces, check_text, check_use, run
from mirascope import llm


class Sum(pydantic.BaseModel):
    result: int


llm.register_provider("openai", scope=["openai/"], base_url=BASE_URL, api_key=API_KEY)
TOOLS = [llm.tool(add)]


def model_of(model, api="completions"):
    return llm.Model(f"openai/{model}:{api}", temperature=0)


def plain(model):
    answer = model_of(model).call(QUESTION)
    check_text(answer.text())
    assert answer.usage.output_tokens > 0


def stream(model):
    answer = model_of(model).stream(QUESTION)
    check_pieces(list(answer.text_stream()))
    assert answer.usage.output_tokens > 0


def use_tools(asked):
    answer = asked.call(QUESTION, tools=TOOLS)
    check_text(answer.resume(answer.execute_tools()).text())
    check_use()


def tools(model):
    use_tools(model_of(model))


def structured(model):
    for mode in ("strict", "tool"):
        made = model_of(model).call(QUESTION, format=llm.format(Sum, mode=mode)).parse()
        assert isinstance(made, Sum), mode


def responses(model):
    use_tools(model_of(model, "responses"))
    check_pieces(list(model_of(model, "responses").stream(QUESTION).text_stream()))


run(plain=plain, stream=stream, tools=tools, structured=structured, responses=responses)
