"""langchain-openai."""

import pydantic
from cells import QUESTION, add, check_call, check_pieces, check_text, run
from langchain_openai import ChatOpenAI, OpenAIEmbeddings


class Sum(pydantic.BaseModel):
    result: int


def model_of(model):
    return ChatOpenAI(model=model, max_retries=0)


def plain(model):
    check_text(model_of(model).invoke(QUESTION).content)


def stream(model):
    check_pieces([piece.content for piece in model_of(model).stream(QUESTION)])


def tools(model):
    answer = model_of(model).bind_tools([add], tool_choice="required").invoke(QUESTION)
    check_call(answer.tool_calls[0]["name"], answer.tool_calls[0]["args"])


def structured(model):
    assert isinstance(model_of(model).with_structured_output(Sum).invoke(QUESTION), Sum)


def embeddings(model):
    # It counts tokens with a vocabulary of its own, which it would have to download.
    embed = OpenAIEmbeddings(model=model, check_embedding_ctx_length=False)
    assert len(embed.embed_query("a cat")) == 128


run(plain=plain, stream=stream, tools=tools, structured=structured, embeddings=embeddings)
