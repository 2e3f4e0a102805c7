"""Agents traced by the unmodified Weave SDK, started by run-python.sh: a conversation by hand, and openai-agents.

Both send spans of OpenTelemetry and are read back by the SDK's own methods. Exit code 0 means that all of it was right.
"""

import datetime
import os
import time

import openai
import weave
from weave.conversation import Message, Usage

PROGRAM = os.environ["SDK_TRACED_BY"]
PROJECT = f"acme/agents-{PROGRAM}"
QUESTIONS = ["What is 3 plus 4?", "What is 2 plus 2?"]
ANSWERS = ["3 plus 4 is 7.", "2 plus 2 is 4."]
CONVERSATION = f"talk-{PROGRAM}"
WAIT_S = 20


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {PROGRAM}: {name}: {found!r} is not {expected!r}")
    print(f"ok: {PROGRAM}: {name}")


def wait_until(name, find):
    end = time.monotonic() + WAIT_S
    while not find():
        if time.monotonic() > end:
            raise SystemExit(f"not ok: {PROGRAM}: {name} did not come")
        time.sleep(0.2)


def run_conversation():
    """Two turns, each with an answer of `tiny` and a tool that looks at it. Gives the tokens of the answers."""
    client = openai.OpenAI(timeout=WAIT_S, max_retries=0)
    used = []
    with weave.start_conversation(
        agent_name="sums", model="tiny", conversation_id=CONVERSATION, conversation_name="Sums"
    ) as conversation:
        for question in QUESTIONS:
            with conversation.start_turn(user_message=question) as turn:
                with turn.start_llm(model="tiny", provider_name="weft") as llm:
                    answer = client.chat.completions.create(
                        model="tiny", temperature=0, messages=[{"role": "user", "content": question}]
                    )
                    text = answer.choices[0].message.content
                    usage = answer.usage
                    llm.record(
                        input_messages=[Message(role="user", content=question)],
                        output_messages=[Message(role="assistant", content=text)],
                        usage=Usage(
                            input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens
                        ),
                        finish_reasons=["stop"],
                    )
                    used.append((usage.prompt_tokens, usage.completion_tokens))
                with turn.start_tool(name="check_sum", arguments='{"of": "sum"}') as tool:
                    tool.result = f"checked {text}"
    return used


def run_openai_agents():
    """Two runs of an agent that asks `tiny`, in one group."""
    from agents import Agent, ModelSettings, RunConfig, Runner
    from agents import set_default_openai_api
    from weave.integrations.patch import patch_openai_agents_otel

    patch_openai_agents_otel()
    set_default_openai_api("chat_completions")
    agent = Agent(name="sums", model="tiny", model_settings=ModelSettings(temperature=0))
    used = []
    for question in QUESTIONS:
        result = Runner.run_sync(agent, question, run_config=RunConfig(group_id=CONVERSATION))
        check("the answer", result.final_output, ANSWERS[QUESTIONS.index(question)])
        usage = result.context_wrapper.usage
        used.append((usage.input_tokens, usage.output_tokens))
    return used


def main():
    if PROGRAM == "openai-agents":
        from agents import set_trace_processors

        # The library's own exporter would ask another host.
        set_trace_processors([])
    client = weave.init(PROJECT)
    used = run_conversation() if PROGRAM == "conversation" else run_openai_agents()
    client.finish()

    wait_until("both turns", lambda: [a for a in client.get_agents() if a.invocation_count == 2])
    (agent,) = client.get_agents()
    check("the agent", (agent.agent_name, agent.invocation_count, agent.error_count), ("sums", 2, 0))
    check("the agent's tokens", (agent.total_input_tokens, agent.total_output_tokens), tuple(map(sum, zip(*used))))
    check("versions", len(list(client.get_agent_versions(agent_name="sums"))), 1)

    spans = list(client.get_agent_spans())
    check("spans are counted", len(client.get_agent_spans()), len(spans))
    invoked = [span for span in client.get_agent_spans(agent_name="sums") if span.operation_name == "invoke_agent"]
    check("invocations", len(invoked), 2)
    chats = [span for span in spans if span.operation_name == "chat"]
    check("the conversation", {span.conversation_id for span in invoked}, {CONVERSATION})
    check(
        "tokens of the model calls",
        sorted((span.request_model or span.response_model, span.input_tokens, span.output_tokens) for span in chats),
        sorted(("tiny", *tokens) for tokens in used),
    )

    turns = client.get_agent_turns(conversation_id=CONVERSATION)
    check("turns", turns.total_turns, 2)
    for turn, question, answer, tokens in zip(turns.turns, QUESTIONS, ANSWERS, used):
        told = [message for message in turn.messages if message.type == "user_message"]
        check("the question", [message.user_message.text for message in told], [question])
        said = [message for message in turn.messages if message.type == "assistant_message"]
        check("the answer, once", [message.assistant_message.text for message in said], [answer])
        check("the turn's tokens", (turn.total_input_tokens, turn.total_output_tokens), tokens)
        if PROGRAM == "conversation":
            tools = [message.tool_call for message in turn.messages if message.type == "tool_call"]
            check("the tool", [(tool.tool_name, tool.tool_result) for tool in tools], [("check_sum", f"checked {answer}")])
        alone = client.get_agent_turn(trace_id=turn.trace_id, include_feedback=True)
        check("one turn alone", len(alone.messages), len(turn.messages))

    found = client.search_agents(query="3 PLUS 4")
    check("the search", [result.conversation_id for result in found.results], [CONVERSATION])
    start = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    stats = client.get_agent_span_stats(
        start=start,
        granularity=7200,
        query={"$expr": {"$eq": [{"$getField": "operation_name"}, {"$literal": "chat"}]}},
        metrics=[{"alias": "tokens", "value": {"source": "derived", "key": "total_tokens"}, "value_type": "number"}],
    )
    check("statistics", sum(row["sum_tokens"] for row in stats.rows), sum(map(sum, used)))
    check("attributes", client.get_agent_custom_attributes().offset, 0)


main()
