"""LiteLLM's own callback."""

import litellm
from steps import CONVERSATION, FAIL, PLAIN, STREAM, SUNNY, TOOL_CHAT, USER, WEATHER, finish, open_providers, run_steps

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


def plain():
    ask([{"role": "user", "content": PLAIN}])


def tool():
    messages = [{"role": "user", "content": WEATHER}]
    first = ask(messages, tools=[TOOL_CHAT]).choices[0].message
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": SUNNY}
    ask([*messages, first.model_dump(exclude_none=True), result], tools=[TOOL_CHAT])


def stream():
    for _ in ask([{"role": "user", "content": STREAM}], stream=True, stream_options={"include_usage": True}):
        pass


def fail():
    ask([{"role": "user", "content": FAIL}])


def end():
    import time

    # The callback runs in a thread of the library.
    time.sleep(2)
    close()


run_steps(plain, tool, stream, fail)
finish(end)
