"""The steps by Groq's client; WITH=openinference or openllmetry names the instrumentor."""

import os

import groq
from steps import CONVERSATION, PROVIDER, USER, chat_steps, finish, open_providers, run_steps

provider, close = open_providers()
if os.environ.get("WITH") == "openinference":
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.groq import GroqInstrumentor
else:
    from contextlib import nullcontext

    from opentelemetry.instrumentation.groq import GroqInstrumentor

    def using_attributes(**_):
        return nullcontext()


GroqInstrumentor().instrument(tracer_provider=provider)
client = groq.Groq(base_url=PROVIDER, api_key="none", max_retries=0, timeout=20)


def ask(messages, **more):
    # Its streams have their usage unasked.
    more.pop("stream_options", None)
    return client.chat.completions.create(model="openai/gpt-oss-20b", messages=messages, **more)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(*chat_steps(ask))
finish(close)
