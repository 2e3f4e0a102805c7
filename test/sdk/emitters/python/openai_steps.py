"""The steps by OpenAI's own client, in chat completions and in responses, below an instrumentor of choice."""

import os

import openai
from steps import chat_steps, finish, open_providers, response_steps, run_steps

MODEL = "gpt-5"
client = None


def ask(messages, **more):
    return client.chat.completions.create(model=MODEL, messages=messages, **more)


def embed():
    client.embeddings.create(model="text-embedding-3-small", input="Please embed.")


def respond(**more):
    return client.responses.create(model=MODEL, **more)


CHAT = [*chat_steps(ask), embed]
RESPONSES = response_steps(respond)


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
