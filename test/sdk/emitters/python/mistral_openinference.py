from mistralai.client import Mistral
from openinference.instrumentation import using_attributes
from openinference.instrumentation.mistralai import MistralAIInstrumentor
from steps import CONVERSATION, PROVIDER, USER, chat_steps, finish, open_providers, run_steps

provider, close = open_providers()
MistralAIInstrumentor().instrument(tracer_provider=provider)
client = Mistral(api_key="none", server_url=PROVIDER + "/mistral")


def ask(messages, **more):
    # Its streams are a method of their own, and have their usage unasked.
    more.pop("stream_options", None)
    send = client.chat.stream if more.pop("stream", False) else client.chat.complete
    return send(model="mistral-large-latest", messages=messages, **more)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(*chat_steps(ask))
finish(close)
