"""Queues of calls that people judge."""

import weave
from shown import check, traced, works


@works(
    "create_annotation_queue",
    "get_annotation_queue",
    "list_annotation_queues",
    "update_annotation_queue",
    "delete_annotation_queue",
    "add_calls_to_annotation_queue",
    "list_annotation_queue_items",
    "get_annotation_queue_stats",
)
def queues(client):
    spec = weave.publish(weave.AnnotationSpec(name="Good", field_schema={"type": "boolean"}), "good")
    made = [traced(client, question) for question in ("judge me", "and me")]
    queue_id = client.create_annotation_queue(name="to judge", scorer_refs=[spec.uri], description="Is it good?")
    queue = client.get_annotation_queue(queue_id)
    check("a queue", [queue.name, queue.description, queue.scorer_refs], ["to judge", "Is it good?", [spec.uri]])
    check("found by name", [one.id for one in client.list_annotation_queues(name="to judge")], [queue_id])
    renamed = client.update_annotation_queue(queue_id, name="to be judged")
    check("renamed", [renamed.name, renamed.description], ["to be judged", "Is it good?"])

    ids = [call.id for call in made]
    fields = ["inputs.question", "output.text"]
    added = client.add_calls_to_annotation_queue(queue_id, call_ids=ids, display_fields=fields)
    again = client.add_calls_to_annotation_queue(queue_id, call_ids=ids[:1], display_fields=fields)
    check("calls are added once", [added.added_count, again.added_count, again.duplicates], [2, 0, 1])
    items = client.list_annotation_queue_items(queue_id, include_position=True)
    check("items", {item.call_id for item in items}, set(ids))
    check("fields to show", items[0].display_fields, fields)
    [stats] = client.get_annotation_queue_stats([queue_id])
    check("statistics", [stats.total_items, stats.completed_items], [2, 0])
    client.delete_annotation_queue(queue_id)
    check("deleted", [one.id for one in client.list_annotation_queues()], [])
