"""Bedrock's converse, which is not streamed here, below an instrumentor of choice."""

import os

from steps import FAIL, PLAIN, PROVIDER, SUNNY, TOOL_SCHEMA, WEATHER, finish, open_providers, run_steps

MODEL = "amazon.nova-pro-v1:0"
TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "get_weather",
                "description": "The weather of a city.",
                "inputSchema": {"json": TOOL_SCHEMA},
            }
        }
    ]
}
os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION="us-east-1")
client = None


def user(*content):
    return {"role": "user", "content": list(content)}


def ask(messages, **more):
    return client.converse(modelId=MODEL, messages=messages, **more)


def plain():
    ask([user({"text": PLAIN})])


def tool():
    first = ask([user({"text": WEATHER})], toolConfig=TOOLS)["output"]["message"]
    call = first["content"][0]["toolUse"]
    result = {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"text": SUNNY}]}}
    ask([user({"text": WEATHER}), first, user(result)], toolConfig=TOOLS)


def fail():
    ask([user({"text": FAIL})])


def main(instrument, around=None):
    global client
    provider, close = open_providers()
    import boto3

    instrument(provider)
    client = boto3.client("bedrock-runtime", endpoint_url=PROVIDER)
    if around is None:
        run_steps(plain, tool, fail)
    else:
        with around():
            run_steps(plain, tool, fail)
    finish(close)
