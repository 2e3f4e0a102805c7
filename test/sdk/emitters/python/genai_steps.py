"""The steps by google-genai, below an instrumentor of choice."""

from google import genai
from google.genai import types
from steps import FAIL, PLAIN, PROVIDER, STREAM, SUNNY, TOOL_SCHEMA, WEATHER, finish, open_providers, run_steps

MODEL = "gemini-2.5-pro"
TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(
                name="get_weather", description="The weather of a city.", parameters_json_schema=TOOL_SCHEMA
            )
        ]
    )
]
client = None


def ask(contents, **more):
    return client.models.generate_content(model=MODEL, contents=contents, **more)


def plain():
    ask(PLAIN)


def tool():
    config = types.GenerateContentConfig(tools=TOOLS)
    first = ask(WEATHER, config=config)
    call = first.function_calls[0]
    result = types.Part(
        function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": SUNNY})
    )
    ask(
        [
            types.Content(role="user", parts=[types.Part(text=WEATHER)]),
            first.candidates[0].content,
            types.Content(role="user", parts=[result]),
        ],
        config=config,
    )


def stream():
    for _ in client.models.generate_content_stream(model=MODEL, contents=STREAM):
        pass


def fail():
    ask(FAIL)


STEPS = [plain, tool, stream, fail]


def main(instrument, around=None):
    global client
    provider, close = open_providers()
    instrument(provider)
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=PROVIDER))
    if around is None:
        run_steps(*STEPS)
    else:
        with around():
            run_steps(*STEPS)
    finish(close)
