"""The steps by OpenAI's own client, in chat completions and in responses, below an instrumentor of choice."""

import os

import openai
from steps import FAIL, PLAIN, STREAM, SUNNY, TOOL_CHAT, TOOL_SCHEMA, WEATHER, finish, open_providers, run_steps

MODEL = "gpt-5"
client = None


def ask(content, **more):
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": content}], **more)


def plain():
    ask(PLAIN)


def tool():
    first = ask(WEATHER, tools=[TOOL_CHAT]).choices[0].message
    messages = [
        {"role": "user", "content": WEATHER},
        first.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": SUNNY},
    ]
    client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL_CHAT])


def stream():
    for _ in ask(STREAM, stream=True, stream_options={"include_usage": True}):
        pass


def fail():
    ask(FAIL)


def embed():
    client.embeddings.create(model="text-embedding-3-small", input="Please embed.")


def respond():
    client.responses.create(model=MODEL, input=PLAIN)


def respond_tool():
    tools = [{"type": "function", "name": "get_weather", "parameters": TOOL_SCHEMA}]
    first = client.responses.create(model=MODEL, input=WEATHER, tools=tools)
    call = [item for item in first.output if item.type == "function_call"][0]
    sent = [
        {"role": "user", "content": WEATHER},
        *[item.model_dump(exclude_none=True) for item in first.output],
        {"type": "function_call_output", "call_id": call.call_id, "output": SUNNY},
    ]
    client.responses.create(model=MODEL, input=sent, tools=tools)


def respond_stream():
    for _ in client.responses.create(model=MODEL, input=STREAM, stream=True):
        pass


CHAT = [plain, tool, stream, fail, embed]
RESPONSES = [respond, respond_tool, respond_stream, fail]


def main(instrument, around=None):
    global client
    provider, close = open_providers()
    instrument(provider)
    client = openai.OpenAI(max_retries=0, timeout=20)
    steps = RESPONSES if os.environ.get("API") == "responses" else CHAT
    if around is None:
        run_steps(*steps)
    else:
        with around():
            run_steps(*steps)
    finish(close)
