"""openai (PyPI): responses, and what is no chat."""

import openai
import pydantic
from cells import ADD, QUESTION, TEXT, check_call, check_pieces, check_text, run

client = openai.OpenAI(max_retries=0)


class Sum(pydantic.BaseModel):
    result: int


def plain(model):
    answer = client.responses.create(model=model, input=QUESTION)
    check_text(answer.output_text)
    again = client.responses.create(
        model=model, input="What is 2 plus 2?", previous_response_id=answer.id
    )
    check_text(again.output_text)
    assert client.responses.retrieve(again.id).output_text == again.output_text
    client.responses.delete(again.id)


def stream(model):
    with client.responses.stream(model=model, input=QUESTION) as events:
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        check_pieces(deltas)
        assert events.get_final_response().output_text == "".join(deltas)


def tools(model):
    answer = client.responses.create(
        model=model,
        input=QUESTION,
        tools=[{"type": "function", "strict": True, **ADD}],
        tool_choice="required",
    )
    call = next(item for item in answer.output if item.type == "function_call")
    check_call(call.name, call.arguments)


def structured(model):
    answer = client.responses.parse(model=model, input=QUESTION, text_format=Sum)
    assert isinstance(answer.output_parsed, Sum)


def embeddings(model):
    made = client.embeddings.create(model=model, input=["a cat", "an owl"])
    assert [len(one.embedding) for one in made.data] == [128, 128]


def completions(model):
    asked = {"model": model, "prompt": TEXT, "temperature": 0}
    whole = client.completions.create(**asked, echo=True, logprobs=1)
    assert whole.choices[0].text.startswith(TEXT)
    chunks = client.completions.create(**asked, stream=True)
    check_pieces([chunk.choices[0].text for chunk in chunks])


run(
    plain=plain,
    stream=stream,
    tools=tools,
    structured=structured,
    embeddings=embeddings,
    completions=completions,
)
