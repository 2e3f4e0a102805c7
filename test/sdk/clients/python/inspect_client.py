"""inspect-ai, by its provider openai-api."""

import json
import os

from cells import API_KEY, BASE_URL, QUESTION, check_text, check_use, run
from cells import add as adder

os.environ |= {"WEFT_BASE_URL": BASE_URL, "WEFT_API_KEY": API_KEY, "INSPECT_DISPLAY": "none"}

import inspect_ai  # noqa: E402
import pydantic  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import GenerateConfig, ResponseSchema, get_model  # noqa: E402
from inspect_ai.scorer import includes  # noqa: E402
from inspect_ai.solver import generate, use_tools  # noqa: E402
from inspect_ai.tool import tool  # noqa: E402
from inspect_ai.util import json_schema  # noqa: E402


class Sum(pydantic.BaseModel):
    result: int


@tool
def add():
    async def execute(a: int, b: int) -> str:
        """Adds two numbers.

        Args:
            a: The first number.
            b: The second number.
        """
        return json.dumps({"result": adder(a, b)})

    return execute


def model_of(model, **more):
    return get_model(f"openai-api/weft/{model}", memoize=False, **more)


async def plain(model):
    config = GenerateConfig(temperature=0, logprobs=True, top_logprobs=2)
    answer = await model_of(model).generate(QUESTION, config=config)
    check_text(answer.completion)
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens
    tokens = answer.choices[0].logprobs.content
    assert len(tokens) == answer.usage.output_tokens and len(tokens[0].top_logprobs) == 2


async def stream(model):
    answer = await model_of(model, stream=True).generate(QUESTION)
    check_text(answer.completion)
    assert answer.usage.output_tokens > 0


async def tools(model):
    task = inspect_ai.Task(
        dataset=[Sample(input=QUESTION, target="7")],
        solver=[use_tools(add()), generate()],
        scorer=includes(),
        config=GenerateConfig(temperature=0),
    )
    [log] = await inspect_ai.eval_async(
        task, model=model_of(model), log_dir=os.environ["TMPDIR"] + "/logs", log_format="json"
    )
    assert log.status == "success", log.error
    check_use()
    assert log.samples[0].scores["includes"].value == "C", log.samples[0].output.completion


async def structured(model):
    schema = ResponseSchema(name="sum", json_schema=json_schema(Sum), strict=True)
    answer = await model_of(model).generate(QUESTION, config=GenerateConfig(response_schema=schema))
    Sum.model_validate(json.loads(answer.completion))


run(plain=plain, stream=stream, tools=tools, structured=structured)
