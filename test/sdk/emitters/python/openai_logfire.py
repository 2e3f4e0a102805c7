"""Logfire exports by itself where OTEL_EXPORTER_OTLP_ENDPOINT is set."""

import logfire
import openai
import openai_steps
from openai_steps import CHAT, RESPONSES
from steps import attempt, finish

import os

logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
openai_steps.client = openai.OpenAI(max_retries=0, timeout=20)
logfire.instrument_openai(openai_steps.client)
with logfire.span("program"):
    for step in RESPONSES if os.environ.get("API") == "responses" else CHAT:
        attempt(step)
finish(lambda: logfire.force_flush())
