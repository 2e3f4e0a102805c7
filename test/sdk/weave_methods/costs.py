"""Prices of a project."""

import datetime

from shown import check, traced, works


@works("add_cost", "query_costs", "purge_costs")
def costs(client):
    since = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    created = client.add_cost("gpt-4o", 0.5, 2, effective_date=since)
    other = client.add_cost("of-nobody", 1, 1, cache_read_input_token_cost=0.25)
    found = client.query_costs(llm_ids=["gpt-4o"])
    check("a price", [(str(cost.id), cost.prompt_token_cost) for cost in found], [(created.ids[0][0], 0.5)])
    by_query = {"$expr": {"$eq": [{"$getField": "llm_id"}, {"$literal": "of-nobody"}]}}
    check("by query", [str(cost.id) for cost in client.query_costs(query=by_query)], [other.ids[0][0]])
    check("by its id", [cost.llm_id for cost in client.query_costs(other.ids[0][0])], ["of-nobody"])
    check("one of many", len(client.query_costs(limit=1, offset=1)), 1)

    call = traced(client, "what does it cost?")
    used = client.get_call(call.id, include_costs=True).summary["weave"]["costs"]["gpt-4o"]
    check("a priced call", [used["prompt_tokens_total_cost"], used["completion_tokens_total_cost"]], [50, 20])
    client.purge_costs([created.ids[0][0], other.ids[0][0]])
    check("purged", client.query_costs(llm_ids=["gpt-4o", "of-nobody"]), [])
