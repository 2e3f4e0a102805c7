"""llama-index with OpenAILike, by chat and by plain texts."""

import pydantic
from cells import API_KEY, BASE_URL, QUESTION, TEXT, add, check_call, check_pieces, check_text, run
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike


class Sum(pydantic.BaseModel):
    """A sum."""

    result: int


def model_of(model, **more):
    settings = {"api_base": BASE_URL, "api_key": API_KEY, "max_retries": 0, "context_window": 2048}
    is_chat = {"is_chat_model": True, "is_function_calling_model": True}
    return OpenAILike(model=model, **{**settings, **is_chat, **more})


MESSAGES = [ChatMessage(role="user", content=QUESTION)]


def plain(model):
    check_text(model_of(model).chat(MESSAGES).message.content)


def stream(model):
    check_pieces([piece.delta for piece in model_of(model).stream_chat(MESSAGES)])


def tools(model):
    llm = model_of(model)
    tool = FunctionTool.from_defaults(fn=add)
    answer = llm.chat_with_tools([tool], chat_history=MESSAGES, tool_required=True)
    call = llm.get_tool_calls_from_response(answer)[0]
    check_call(call.tool_name, call.tool_kwargs)


def structured(model):
    made = model_of(model).structured_predict(Sum, PromptTemplate(QUESTION))
    assert isinstance(made, Sum)


def completions(model):
    check_text(model_of(model, is_chat_model=False, temperature=0).complete(TEXT).text)


run(plain=plain, stream=stream, tools=tools, structured=structured, completions=completions)
