import together
from steps import PROVIDER, chat_steps, finish, open_instrumented, run_steps

context, close = open_instrumented("together", "TogetherAiInstrumentor")
# Its streams have their usage unasked, as Mistral's.
client = together.Together(api_key="none", base_url=PROVIDER + "/mistral/v1", max_retries=0)


def ask(messages, **more):
    more.pop("stream_options", None)
    return client.chat.completions.create(model="openai/gpt-oss-20b", messages=messages, **more)


with context:
    run_steps(*chat_steps(ask))
finish(close)
