"""magentic. Every request of it is a stream; objects are the arguments of a tool that it makes."""

import magentic
import pydantic
from cells import API_KEY, BASE_URL, QUESTION, add, check_pieces, check_text, check_use, run


class Sum(pydantic.BaseModel):
    result: int


def ask(model, output_types, functions=()):
    asked = magentic.OpenaiChatModel(model, base_url=BASE_URL, api_key=API_KEY, temperature=0)
    chat = magentic.Chat(
        [magentic.UserMessage(QUESTION)],
        functions=functions,
        output_types=output_types,
        model=asked,
    )
    return chat.submit()


def plain(model):
    chat = ask(model, [str])
    check_text(chat.last_message.content)
    assert chat.last_message.usage.output_tokens > 0


def stream(model):
    check_pieces(list(ask(model, [magentic.StreamedStr]).last_message.content))


def tools(model):
    chat = ask(model, [str, magentic.FunctionCall], [add]).exec_function_call().submit()
    check_text(chat.last_message.content)
    check_use()


def structured(model):
    assert isinstance(ask(model, [Sum]).last_message.content, Sum)


run(plain=plain, stream=stream, tools=tools, structured=structured)
