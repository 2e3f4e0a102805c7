"""The steps by Groq's client; WITH names the instrumentor, openinference or openlit, which is OpenLLMetry's otherwise."""

import groq
from steps import PROVIDER, chat_steps, finish, open_instrumented, run_steps

context, close = open_instrumented("groq", "GroqInstrumentor")
client = groq.Groq(base_url=PROVIDER, api_key="none", max_retries=0, timeout=20)


def ask(messages, **more):
    # Its streams have their usage unasked.
    more.pop("stream_options", None)
    return client.chat.completions.create(model="openai/gpt-oss-20b", messages=messages, **more)


with context:
    run_steps(*chat_steps(ask))
finish(close)
