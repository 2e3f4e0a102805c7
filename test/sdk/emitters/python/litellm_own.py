"""LiteLLM's own callback."""

import litellm
from steps import CONVERSATION, USER, chat_steps, finish, open_providers, run_steps

import os

provider, close = open_providers()
if os.environ.get("WITH") == "openinference":
    from openinference.instrumentation.litellm import LiteLLMInstrumentor

    LiteLLMInstrumentor().instrument(tracer_provider=provider)
else:
    # Without it, requests below a span of the program have none of their own and write their attributes into that one.
    os.environ["USE_OTEL_LITELLM_REQUEST_SPAN"] = "true"
    from litellm.integrations.opentelemetry import OpenTelemetry, OpenTelemetryConfig

    litellm.callbacks = [OpenTelemetry(config=OpenTelemetryConfig(exporter=None), tracer_provider=provider)]
SENT = {"metadata": {"session_id": CONVERSATION, "user_id": USER}, "user": USER}


def ask(messages, **more):
    return litellm.completion(model="openai/gpt-5", messages=messages, num_retries=0, max_retries=0, **SENT, **more)


def end():
    import time

    # The callback runs in a thread of the library.
    time.sleep(2)
    close()


run_steps(*chat_steps(ask))
finish(end)
