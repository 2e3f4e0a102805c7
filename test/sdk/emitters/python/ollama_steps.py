"""The steps by Ollama's client; WITH names the instrumentor, openinference or openlit, which is OpenLLMetry's otherwise."""

import ollama
from steps import FAIL, PLAIN, PROVIDER, STREAM, SUNNY, TOOL_CHAT, WEATHER, finish, open_instrumented, run_steps

context, close = open_instrumented("ollama", "OllamaInstrumentor")
client = ollama.Client(host=PROVIDER)


def ask(*messages, **more):
    return client.chat(model="llama3.2", messages=list(messages), **more)


def user(content):
    return {"role": "user", "content": content}


def plain():
    ask(user(PLAIN))


def tool():
    first = ask(user(WEATHER), tools=[TOOL_CHAT]).message
    result = {"role": "tool", "tool_name": "get_weather", "content": SUNNY}
    ask(user(WEATHER), first, result, tools=[TOOL_CHAT])


def stream():
    for _ in ask(user(STREAM), stream=True):
        pass


def fail():
    ask(user(FAIL))


with context:
    run_steps(plain, tool, stream, fail)
finish(close)
