"""Instructor, whose answers are objects, below OpenInference's instrumentors of it and of the client."""

import instructor
import openai
from openinference.instrumentation import using_attributes
from openinference.instrumentation.instructor import InstructorInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from pydantic import BaseModel
from steps import CONVERSATION, FAIL, USER, WEATHER, finish, open_providers, run_steps

provider, close = open_providers()
InstructorInstrumentor().instrument(tracer_provider=provider)
OpenAIInstrumentor().instrument(tracer_provider=provider)
client = instructor.from_openai(openai.OpenAI(max_retries=0))


class Weather(BaseModel):
    city: str


def ask(question):
    messages = [{"role": "user", "content": question}]
    return client.chat.completions.create(model="gpt-5", response_model=Weather, messages=messages, max_retries=0)


def plain():
    ask(WEATHER)


def fail():
    ask(FAIL)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, fail)
finish(close)
