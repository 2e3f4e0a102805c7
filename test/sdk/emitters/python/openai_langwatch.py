"""LangWatch's tracer of OpenAI's client, by its own exporter."""

import os

import langwatch
import openai
import openai_steps
from openai_steps import CHAT
from opentelemetry import trace as otel
from steps import CONVERSATION, USER, finish, run_steps

langwatch.setup(api_key=os.environ["PROJECT_KEY"], endpoint_url=os.environ["WEFT_URL"])
openai_steps.client = openai.OpenAI(max_retries=0, timeout=20)

with langwatch.trace(name="program", metadata={"thread_id": CONVERSATION, "user_id": USER}) as trace:
    trace.autotrack_openai_calls(openai_steps.client)
    run_steps(*CHAT)
finish(lambda: otel.get_tracer_provider().shutdown())
