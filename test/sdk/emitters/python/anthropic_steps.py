"""The steps by Anthropic's own client, which emits spans of its own, below an instrumentor of choice."""

import anthropic
from steps import FAIL, PLAIN, STREAM, SUNNY, TOOL_SCHEMA, WEATHER, finish, open_providers, run_steps

MODEL = "claude-sonnet-4-5"
TOOLS = [{"name": "get_weather", "description": "The weather of a city.", "input_schema": TOOL_SCHEMA}]
client = None


def ask(messages, **more):
    return client.messages.create(model=MODEL, max_tokens=100, messages=messages, **more)


def plain():
    ask([{"role": "user", "content": PLAIN}])


def tool():
    first = ask([{"role": "user", "content": WEATHER}], tools=TOOLS)
    blocks = [block.model_dump(exclude_none=True, include={"type", "id", "name", "input"}) for block in first.content]
    result = {"type": "tool_result", "tool_use_id": blocks[0]["id"], "content": SUNNY}
    ask(
        [
            {"role": "user", "content": WEATHER},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": [result]},
        ],
        tools=TOOLS,
    )


def stream():
    for _ in ask([{"role": "user", "content": STREAM}], stream=True):
        pass


def fail():
    ask([{"role": "user", "content": FAIL}])


STEPS = [plain, tool, stream, fail]


def main(instrument, around=None):
    global client
    provider, close = open_providers()
    instrument(provider)
    client = anthropic.Anthropic(max_retries=0, timeout=20)
    if around is None:
        run_steps(*STEPS)
    else:
        with around():
            run_steps(*STEPS)
    finish(close)
