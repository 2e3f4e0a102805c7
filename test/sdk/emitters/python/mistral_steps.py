"""The steps by Mistral's client; WITH names the instrumentor: openinference or openlit."""

from steps import PROVIDER, chat_steps, finish, open_instrumented, run_steps

context, close = open_instrumented("mistralai", "MistralAIInstrumentor")
from mistralai.client import Mistral

client = Mistral(api_key="none", server_url=PROVIDER + "/mistral")


def ask(messages, **more):
    # Its streams are a method of their own, and have their usage unasked.
    more.pop("stream_options", None)
    send = client.chat.stream if more.pop("stream", False) else client.chat.complete
    return send(model="mistral-large-latest", messages=messages, **more)


with context:
    run_steps(*chat_steps(ask))
finish(close)
