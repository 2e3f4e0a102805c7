"""Azure's client of models with its AIInferenceInstrumentor."""

from azure.ai.inference import ChatCompletionsClient
from azure.ai.inference.tracing import AIInferenceInstrumentor
from azure.core.credentials import AzureKeyCredential
from azure.core.settings import settings
from steps import FAIL, PLAIN, PROVIDER, STREAM, SUNNY, TOOL_CHAT, WEATHER, finish, open_providers, run_steps

settings.tracing_implementation = "opentelemetry"
provider, close = open_providers()
AIInferenceInstrumentor().instrument(enable_content_recording=True)
client = ChatCompletionsClient(endpoint=PROVIDER + "/v1", credential=AzureKeyCredential("none"), model="gpt-5")


def ask(*messages, **more):
    return client.complete(messages=list(messages), **more)


def user(content):
    return {"role": "user", "content": content}


def plain():
    ask(user(PLAIN))


def tool():
    first = ask(user(WEATHER), tools=[TOOL_CHAT]).choices[0].message
    calls = [call.as_dict() for call in first.tool_calls]
    said = {"role": "assistant", "tool_calls": calls}
    result = {"role": "tool", "tool_call_id": calls[0]["id"], "content": SUNNY}
    ask(user(WEATHER), said, result, tools=[TOOL_CHAT])


def stream():
    for _ in ask(user(STREAM), stream=True, model_extras={"stream_options": {"include_usage": True}}):
        pass


def fail():
    ask(user(FAIL))


run_steps(plain, tool, stream, fail)
finish(close)
