"""Agents: a conversation that the SDK traces, and every question about it."""

import datetime

import weave
from opentelemetry import trace
from shown import check, works
from weave.conversation.types import Message, Usage

SINCE = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
TOKENS = {
    "alias": "tokens",
    "aggregations": ["sum"],
    "value": {"source": "field", "key": "input_tokens"},
    "value_type": "number",
}


def talk():
    """Two turns of an agent, the first of them with a tool."""
    conversation = weave.start_conversation(
        agent_name="librarian", model="gpt-4o", conversation_id="talk-1", attributes={"shelf": "b"}
    )
    with conversation.start_turn(user_message="Where is Moby-Dick?") as turn:
        with turn.start_tool(name="find_book", arguments='{"title": "Moby-Dick"}') as tool:
            tool.result = "shelf 7"
        with turn.start_llm(model="gpt-4o", provider_name="openai") as llm:
            llm.record(
                input_messages=[Message.user("Where is Moby-Dick?")],
                usage=Usage(input_tokens=100, output_tokens=10),
            )
            llm.output("It is on shelf 7.")
    with conversation.start_turn(user_message="Thanks!") as turn:
        with turn.start_llm(model="gpt-4o", provider_name="openai") as llm:
            llm.record(input_messages=[Message.user("Thanks!")], usage=Usage(input_tokens=50, output_tokens=5))
            llm.output("You are welcome.")
    conversation.end()
    trace.get_tracer_provider().force_flush()


@works(
    "get_agents",
    "get_agent_versions",
    "get_agent_spans",
    "get_agent_turn",
    "get_agent_turns",
    "get_agent_span_stats",
    "get_agent_custom_attributes",
    "search_agents",
)
def agents(client):
    talk()
    client.flush()
    found = list(client.get_agents())
    check("agents", [agent.agent_name for agent in found], ["librarian"])
    check("its turns", found[0].invocation_count, 2)
    check("its tokens", [found[0].total_input_tokens, found[0].total_output_tokens], [150, 15])
    check("counted", len(client.get_agents(agent_name="nobody")), 0)
    versions = list(client.get_agent_versions(agent_name="librarian"))
    check("versions", len(versions), 1)

    named = client.get_agent_spans(agent_name="librarian")
    # The agent of a trace is that of all its spans.
    check(
        "spans that name it",
        {span.operation_name for span in named},
        {"invoke_agent", "chat", "execute_tool"},
    )
    operations = sorted(span.operation_name for span in client.get_agent_spans(page_size=2))
    check("spans", operations, ["chat", "chat", "execute_tool", "invoke_agent", "invoke_agent"])
    chats = {"$expr": {"$eq": [{"$getField": "operation_name"}, {"$literal": "chat"}]}}
    check("spans by query", len(client.get_agent_spans(query=chats)), 2)

    talked = client.get_agent_turns(conversation_id="talk-1", include_feedback=True)
    check("turns", [talked.total_turns, len(talked.turns)], [2, 2])
    first = min(talked.turns, key=lambda turn: turn.started_at)
    turn = client.get_agent_turn(trace_id=first.trace_id)
    check("a turn", [turn.agent_name, turn.total_input_tokens], ["librarian", 100])
    told = str([message.to_dict() for message in turn.messages])
    check("what was said", ["Moby-Dick" in told, "shelf 7" in told], [True, True])

    stats = client.get_agent_span_stats(start=SINCE, metrics=[TOKENS])
    check("statistics", "150" in str([dict(row) for row in stats.rows]), True)
    keys = [attribute.key for attribute in client.get_agent_custom_attributes().attributes]
    check("attributes of its own", "shelf" in keys, True)
    results = client.search_agents(query="welcome").results
    check("search", [result.conversation_id for result in results], ["talk-1"])
    ranges_and_queues(client)


def ranges_and_queues(client):
    """Groups and buckets of spans, and a queue of spans, read by the types of the client."""
    project = {"project_id": client.project_id}
    by_trace = [{"source": "field", "key": "trace_id"}]
    count = {"alias": "spans", "aggregation": "count"}
    shelf = {"alias": "shelf", "value": {"source": "custom_attrs_string", "key": "shelf"}}
    grouped = client.server.agent_spans_query(
        {
            **project,
            "group_by": by_trace,
            "group_filters": [{"measure": count, "min": 3}],
            "group_distributions": [shelf],
        }
    )
    check("groups in a range", [group.span_count for group in grouped.groups], [3])
    values = grouped.groups[0].distributions["shelf"].values
    check("values of an attribute", {value.value for value in values}, {"b"})
    bucket_by = {"type": "number", "bins": 1, "group_by": by_trace, "measure": count}
    stats = client.server.agent_spans_stats({**project, "start": SINCE, "metrics": [], "bucket_by": bucket_by})
    check("buckets of a number", [row["count"] for row in stats.rows], [2])

    body = {**project, "name": "spans to judge", "scorer_refs": [], "queue_type": "span"}
    queue = client.server._stainless_client.post("/annotation_queues", cast_to=object, body=body)["id"]
    ids = [span.span_id for span in client.get_agent_spans()]
    added = client.add_calls_to_annotation_queue(queue, call_ids=ids, display_fields=[])
    check("spans are added", [added.added_count, added.duplicates], [5, 0])
    check("spans in the queue", {item.call_id for item in client.list_annotation_queue_items(queue)}, set(ids))
    client.delete_annotation_queue(queue)
