"""dspy, which asks in prompts of its own form."""

import dspy
import litellm
from cells import API_KEY, BASE_URL, QUESTION, TOOL, check_call, check_text, run


def model_of(model):
    return dspy.LM(
        f"openai/{model}", api_base=BASE_URL, api_key=API_KEY, cache=False, num_retries=0
    )


def take_schemas(model):
    """dspy sends a schema only to models that litellm knows to take one."""
    info = {"supports_response_schema": True, "litellm_provider": "openai", "mode": "chat"}
    litellm.register_model({f"openai/{model}": info})


def plain(model):
    check_text(model_of(model)(QUESTION)[0])


async def stream(model):
    take_schemas(model)
    listener = dspy.streaming.StreamListener("answer")
    asked = dspy.streamify(dspy.Predict("question -> answer"), stream_listeners=[listener])
    pieces = []
    with dspy.context(lm=model_of(model), adapter=dspy.JSONAdapter()):
        async for piece in asked(question=QUESTION):
            if isinstance(piece, dspy.streaming.StreamResponse):
                pieces.append(piece.chunk)
    check_text("".join(pieces))


def tools(model):
    [answer] = model_of(model)(QUESTION, tools=[TOOL], tool_choice="required")
    call = answer["tool_calls"][0].function
    check_call(call.name, call.arguments)


def structured(model):
    take_schemas(model)
    with dspy.context(lm=model_of(model), adapter=dspy.JSONAdapter()):
        made = dspy.Predict("question -> result: int")(question=QUESTION)
    assert isinstance(made.result, int)


run(plain=plain, stream=stream, tools=tools, structured=structured)
