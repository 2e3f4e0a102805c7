"""guidance, by its models of OpenAI and of vLLM. Every request of it is a stream with log-probabilities."""

import guidance
import openai
import pydantic
from cells import API_KEY, BASE_URL, QUESTION, Cannot, add, check_text, check_use, run
from guidance.models.experimental import VLLMModel


class Sum(pydantic.BaseModel):
    result: int


def ask(asked, node):
    with guidance.system():
        asked += "You add numbers."
    with guidance.user():
        asked += QUESTION
    with guidance.assistant():
        asked += node
    return asked


def model_of(model, kind=guidance.models.OpenAI):
    return kind(model, echo=False, base_url=BASE_URL, api_key=API_KEY)


def plain(model):
    check_text(ask(model_of(model), guidance.gen("answer"))["answer"])


def structured(model):
    Sum.model_validate_json(ask(model_of(model), guidance.json("answer", schema=Sum))["answer"])


def tools(model):
    ask(model_of(model), guidance.gen(tools=[add], tool_choice="required"))
    check_use()


def vllm(model):
    try:
        made = ask(model_of(model, VLLMModel), guidance.gen("answer", regex="[1-9][0-9]"))
    except openai.BadRequestError as error:
        if "structured_outputs.grammar" in str(error):
            raise Cannot("Its grammars are of llguidance: an engine can read them, but tiny cannot.") from error
        raise
    assert len(made["answer"]) == 2, made


run(plain=plain, stream=plain, tools=tools, structured=structured, vllm=vllm)
