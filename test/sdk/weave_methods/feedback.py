"""Feedback: given, found, purged."""

from shown import check, traced, works


@works("get_feedback")
def find(client):
    call = traced(client, "how was it?")
    note = call.feedback.add_note("well done")
    reaction = call.feedback.add_reaction("👍")
    custom = call.feedback.add("correctness", {"value": 5, "nested": {"ok": True}})
    client.flush()
    check("by call", {item.id for item in call.feedback}, {note, reaction, custom})
    check("by id", [item.payload["value"] for item in client.get_feedback(custom)], [5])
    check("by reaction", reaction in [item.id for item in client.get_feedback(reaction="👍")], True)
    by_type = {"$expr": {"$eq": [{"$getField": "feedback_type"}, {"$literal": "correctness"}]}}
    check("by query", [item.id for item in client.get_feedback(by_type)], [custom])
    check("a page", len(client.get_feedback(limit=1)), 1)
    with_feedback = client.get_call(call.id, include_feedback=True).summary["weave"]["feedback"]
    check("with the call", {item["id"] for item in with_feedback}, {note, reaction, custom})
    call.feedback.purge(note)
    client.flush()
    check("purged", {item.id for item in call.feedback}, {reaction, custom})


@works(
    "get_agent_span_feedback", "get_agent_turn_feedback", "get_agent_conversation_feedback"
)
def of_agents(client):
    for index, about in enumerate(
        [
            client.get_agent_span_feedback("00f067aa0ba902b7"),
            client.get_agent_turn_feedback("4bf92f3577b34da6a3ce929d0e0e4736"),
            client.get_agent_conversation_feedback("talk-1"),
        ]
    ):
        given = about.add("rating", {"value": index})
        client.flush()
        check("about an agent", [(item.id, item.payload["value"]) for item in about], [(given, index)])
