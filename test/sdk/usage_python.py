"""Programs on libraries that the Python SDK traces by itself, started by run-python.sh for one of them.

Each asks a model at Weft's own endpoint, below ops of its own, and adds up the tokens that the answers tell. Statistics
must have the same number: each token once, however many calls report it. Exit code 0 means that they have.
"""

import asyncio
import base64
import json
import os
import time
import urllib.request

import weave

LIBRARY = os.environ["SDK_LIBRARY"]
PROJECT = f"acme/usage-{LIBRARY}"
BASE_URL = os.environ["WANDB_BASE_URL"]
KEY = os.environ["WANDB_API_KEY"]
API = BASE_URL + "/v1"
QUESTIONS = ["What is 3 plus 4?", "What is 2 plus 2?"]


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {LIBRARY}: {name}: {found!r} is not {expected!r}")
    print(f"ok: {LIBRARY}: {name}")


def use_openai():
    from openai import OpenAI

    client = OpenAI(base_url=API, api_key=KEY)

    @weave.op
    def ask(question):
        messages = [{"role": "user", "content": question}]
        answer = client.chat.completions.create(model="tiny", messages=messages)
        return answer.usage.total_tokens

    @weave.op
    def stream(question):
        messages = [{"role": "user", "content": question}]
        chunks = client.chat.completions.create(
            model="tiny", messages=messages, stream=True, stream_options={"include_usage": True}
        )
        return [chunk.usage.total_tokens for chunk in chunks if chunk.usage][-1]

    return lambda question: ask(question) + stream(question)


def use_langchain():
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="tiny", base_url=API, api_key=KEY)
    chain = ChatPromptTemplate.from_template("{question}") | model
    return lambda question: chain.invoke({"question": question}).usage_metadata["total_tokens"]


def use_langgraph():
    from langchain_openai import ChatOpenAI
    from langgraph.graph import END, START, MessagesState, StateGraph

    model = ChatOpenAI(model="tiny", base_url=API, api_key=KEY)
    graph = StateGraph(MessagesState)
    graph.add_node("first", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("second", lambda state: {"messages": [model.invoke(state["messages"][:1])]})
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    agent = graph.compile()

    def run(question):
        messages = agent.invoke({"messages": [{"role": "user", "content": question}]})["messages"]
        return sum(each.usage_metadata["total_tokens"] for each in messages[1:])

    return run


def use_litellm():
    import litellm

    def run(question):
        messages = [{"role": "user", "content": question}]
        answer = litellm.completion(
            model="openai/tiny", messages=messages, api_base=API, api_key=KEY
        )
        return answer.usage.total_tokens

    return run


def use_dspy():
    import dspy

    # The SDK knows the usage of this engine alone, by litellm.
    model = dspy.LM("openai/tiny", api_base=API, api_key=KEY, cache=False, engine="litellm")

    def run(question):
        before = len(model.history)
        with dspy.context(lm=model):
            model(question)
        return sum(each["usage"]["total_tokens"] for each in model.history[before:])

    return run


def use_openai_agents():
    from agents import Agent, OpenAIChatCompletionsModel, Runner
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=API, api_key=KEY)
    model = OpenAIChatCompletionsModel(model="tiny", openai_client=client)
    agent = Agent(name="adder", instructions="Answer.", model=model)
    # The client's connections live as long as one loop.
    loop = asyncio.new_event_loop()

    def run(question):
        answer = loop.run_until_complete(Runner.run(agent, question))
        return answer.context_wrapper.usage.total_tokens

    return run


def use_autogen():
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    info = {
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "family": "unknown",
        "structured_output": True,
    }
    client = OpenAIChatCompletionClient(model="tiny", base_url=API, api_key=KEY, model_info=info)
    # The client's connections live as long as one loop.
    loop = asyncio.new_event_loop()

    def run(question):
        agent = AssistantAgent("adder", model_client=client, system_message="Answer.")
        before = client.actual_usage()
        spent = before.prompt_tokens + before.completion_tokens
        loop.run_until_complete(agent.run(task=question))
        after = client.actual_usage()
        return after.prompt_tokens + after.completion_tokens - spent

    return run


def use_crewai():
    from crewai import LLM, Agent, Crew, Task

    # Its prompts ask for a form of answers that the small model does not keep to.
    model = LLM(model="openai/org/relayed", base_url=API, api_key=KEY)

    def run(question):
        agent = Agent(role="adder", goal="Answer.", backstory="You add.", llm=model)
        task = Task(description=question, expected_output="A number.", agent=agent)
        return Crew(agents=[agent], tasks=[task]).kickoff().token_usage.total_tokens

    return run


USES = {
    "openai": use_openai,
    "langchain": use_langchain,
    "langgraph": use_langgraph,
    "litellm": use_litellm,
    "dspy": use_dspy,
    "openai-agents": use_openai_agents,
    "autogen": use_autogen,
    "crewai": use_crewai,
}


def ask_statistics(counting):
    """All tokens of the project."""
    body = {
        "project_id": PROJECT,
        "start": "2020-01-01T00:00:00Z",
        "usage_metrics": [{"metric": "total_tokens"}],
        "usage_counting": counting,
    }
    request = urllib.request.Request(
        BASE_URL + "/calls/stats",
        data=json.dumps(body).encode(),
        headers={
            "content-type": "application/json",
            "authorization": "Basic " + base64.b64encode(f"api:{KEY}".encode()).decode(),
        },
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        buckets = json.load(answer)["usage_buckets"]
    return sum(bucket["sum_total_tokens"] for bucket in buckets)


def main():
    client = weave.init(PROJECT)
    run = USES[LIBRARY]()

    @weave.op
    def step(question):
        return run(question)

    @weave.op
    def agent():
        return sum(step(question) for question in QUESTIONS)

    spent = agent()
    client.flush()
    weave.finish()
    check("the model was asked", spent > 0, True)
    # Spans are sent in the background.
    deadline = time.monotonic() + 20
    while ask_statistics("own") < spent and time.monotonic() < deadline:
        time.sleep(0.2)
    check("each token counts once", ask_statistics("own"), spent)
    # The SDK sends what openai-agents does as spans, in traces of their own.
    if LIBRARY != "openai-agents":
        reported = ask_statistics("reported")
        check("reports hold those of the calls below", reported >= 3 * spent, True)


if __name__ == "__main__":
    main()
