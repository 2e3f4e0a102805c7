"""LangWatch's tracer of OpenAI's client, with a provider of the program."""

import langwatch
import openai
import openai_steps
from openai_steps import CHAT
from steps import CONVERSATION, PROVIDER, USER, finish, open_providers, run_steps

provider, close = open_providers()
langwatch.setup(api_key="none", endpoint_url=PROVIDER, tracer_provider=provider, skip_open_telemetry_setup=True)
openai_steps.client = openai.OpenAI(max_retries=0, timeout=20)

with langwatch.trace(name="program", metadata={"thread_id": CONVERSATION, "user_id": USER}) as trace:
    trace.autotrack_openai_calls(openai_steps.client)
    run_steps(*CHAT)
finish(close)
