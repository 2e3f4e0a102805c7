"""smolagents: its model, and an agent that calls tools."""

from cells import API_KEY, BASE_URL, QUESTION, Cannot, add, check_pieces, check_text, check_use, run
from smolagents import CodeAgent, OpenAIServerModel, ToolCallingAgent, tool

MESSAGES = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
FORM = {
    "type": "json_schema",
    "json_schema": {
        "name": "sum",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
            "additionalProperties": False,
        },
    },
}


def model_of(model):
    return OpenAIServerModel(model_id=model, api_base=BASE_URL, api_key=API_KEY)


def plain(model):
    check_text(model_of(model)(MESSAGES).content)


def stream(model):
    check_pieces([piece.content for piece in model_of(model).generate_stream(MESSAGES)])


def tools(model):
    settings = {"model": model_of(model), "max_steps": 1, "verbosity_level": 0}
    ToolCallingAgent(tools=[tool(add)], **settings).run(QUESTION)
    check_use()


def code(model):
    settings = {"model": model_of(model), "max_steps": 1, "verbosity_level": 0}
    try:
        check_text(str(CodeAgent(tools=[tool(add)], **settings).run(QUESTION)))
    except Exception as error:
        if "maximum context length" in str(error):
            raise Cannot("The prompt of its CodeAgent does not fit into the 2,048 tokens of tiny.") from error
        raise


def structured(model):
    text = model_of(model)(MESSAGES, response_format=FORM).content
    assert '"result"' in text


run(plain=plain, stream=stream, tools=tools, structured=structured, code=code)
