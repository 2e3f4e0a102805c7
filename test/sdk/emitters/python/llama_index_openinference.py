import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation import using_attributes
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from steps import CONVERSATION, FAIL, PLAIN, PROVIDER, STREAM, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
LlamaIndexInstrumentor().instrument(tracer_provider=provider)
llm = OpenAILike(
    model="gpt-5",
    api_base=PROVIDER + "/v1",
    api_key="none",
    is_chat_model=True,
    is_function_calling_model=True,
    max_retries=0,
    additional_kwargs={"stream_options": None},
)


def plain():
    llm.chat([ChatMessage(role="user", content=PLAIN)])


def tool():
    async def run():
        streaming = OpenAILike(
            model="gpt-5",
            api_base=PROVIDER + "/v1",
            api_key="none",
            is_chat_model=True,
            is_function_calling_model=True,
            max_retries=0,
        )
        agent = FunctionAgent(name="forecaster", tools=[get_weather], llm=streaming, streaming=False)
        await agent.run(WEATHER)

    asyncio.run(run())


def stream():
    for _ in llm.stream_chat(
        [ChatMessage(role="user", content=STREAM)], stream_options={"include_usage": True}
    ):
        pass


def fail():
    llm.chat([ChatMessage(role="user", content=FAIL)])


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, tool, stream, fail)
finish(close)
