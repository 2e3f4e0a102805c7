"""What every program does: four questions within one span, which is exported with all below it."""

import contextlib
import importlib
import os
import sys
import traceback

PROVIDER = os.environ["PROVIDER_URL"]
CONVERSATION = "talk-1"
USER = "user-1"
PLAIN = "What is plain?"
WEATHER = "What is the weather in Paris?"
STREAM = "Please stream."
FAIL = "Please fail."
SUNNY = "It is sunny in Paris."

os.environ.setdefault("OPENAI_BASE_URL", PROVIDER + "/v1")
os.environ.setdefault("OPENAI_API_KEY", "none")
os.environ.setdefault("ANTHROPIC_BASE_URL", PROVIDER)
os.environ.setdefault("ANTHROPIC_API_KEY", "none")
os.environ.setdefault("GOOGLE_API_KEY", "none")
os.environ.setdefault("GOOGLE_GEMINI_BASE_URL", PROVIDER)
# What shows messages in the libraries that hide them.
os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
os.environ.setdefault("TRACELOOP_TRACE_CONTENT", "true")

TOOL_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL_CHAT = {
    "type": "function",
    "function": {"name": "get_weather", "description": "The weather of a city.", "parameters": TOOL_SCHEMA},
}


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The name of the city.
    """
    return SUNNY


def open_providers(logs=True):
    """Sets the global providers of OpenTelemetry's SDK. Gives the tracer provider, and what ends all of them."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    logger_provider = None
    if logs:
        from opentelemetry._logs import set_logger_provider
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

        logger_provider = LoggerProvider()
        logger_provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        set_logger_provider(logger_provider)

    def close():
        provider.shutdown()
        if logger_provider:
            logger_provider.shutdown()

    return provider, close


def open_instrumented(module, instrumentor):
    """The same with OpenLIT or the instrumentor of OpenInference where `WITH` says so, else of OpenLLMetry. Gives the steps' context."""
    if os.environ.get("WITH") == "openlit":
        import openlit

        _, close = open_providers()
        # It would fetch its list of prices.
        openlit.init(pricing_json="{}", disable_metrics=True)
        return contextlib.nullcontext(), close
    is_openinference = os.environ.get("WITH") == "openinference"
    package = "openinference" if is_openinference else "opentelemetry"
    provider, close = open_providers()
    loaded = importlib.import_module(f"{package}.instrumentation.{module}")
    getattr(loaded, instrumentor)().instrument(tracer_provider=provider)
    if not is_openinference:
        return contextlib.nullcontext(), close
    from openinference.instrumentation import using_attributes

    return using_attributes(session_id=CONVERSATION, user_id=USER), close


def chat_steps(ask):
    """The steps in the shape of OpenAI's chat completions; `ask` takes messages and further parameters."""

    def say(content, **more):
        return ask([{"role": "user", "content": content}], **more)

    def plain():
        say(PLAIN)

    def tool():
        first = say(WEATHER, tools=[TOOL_CHAT]).choices[0].message
        messages = [
            {"role": "user", "content": WEATHER},
            first.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": SUNNY},
        ]
        ask(messages, tools=[TOOL_CHAT])

    def stream():
        for _ in say(STREAM, stream=True, stream_options={"include_usage": True}):
            pass

    def fail():
        say(FAIL)

    return [plain, tool, stream, fail]


def response_steps(respond):
    """The same in the shape of OpenAI's responses; `respond` takes the parameters of a request but the model."""

    def plain():
        respond(input=PLAIN)

    def tool():
        tools = [{"type": "function", "name": "get_weather", "parameters": TOOL_SCHEMA}]
        first = respond(input=WEATHER, tools=tools)
        call = [item for item in first.output if item.type == "function_call"][0]
        sent = [
            {"role": "user", "content": WEATHER},
            *[item.model_dump(exclude_none=True) for item in first.output],
            {"type": "function_call_output", "call_id": call.call_id, "output": SUNNY},
        ]
        respond(input=sent, tools=tools)

    def stream():
        for _ in respond(input=STREAM, stream=True):
            pass

    def fail():
        respond(input=FAIL)

    return [plain, tool, stream, fail]


def attempt(step):
    """Runs a step; the one that is to fail must, the others must not."""
    try:
        step()
    except Exception as error:
        if step.__name__ == "fail":
            print("fails as it should:", type(error).__name__)
            return
        traceback.print_exc()
        attempt.broken = True


attempt.broken = False


def run_steps(*steps):
    """Runs the steps below a span of their own."""
    from opentelemetry import trace

    with trace.get_tracer("program").start_as_current_span("program"):
        for step in steps:
            attempt(step)


def finish(close):
    close()
    sys.stdout.flush()
    # Some libraries leave threads behind.
    os._exit(1 if attempt.broken else 0)
