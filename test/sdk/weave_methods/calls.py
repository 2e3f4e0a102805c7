"""Calls: made, ended, read, counted, deleted."""

import asyncio
import datetime

import weave
from shown import answer, check, told, traced, works


@works("create_call", "finish_call", "fail_call", "get_call", "flush", "num_outstanding_jobs", "project_id")
def make(client):
    began = datetime.datetime(2026, 1, 31, 9, 30, tzinfo=datetime.timezone.utc)
    outer = client.create_call("outer", {"x": 1}, attributes={"tenant": "blue"}, started_at=began)
    inner = client.create_call("inner", {"x": 2}, display_name="the inner one")
    client.fail_call(inner, ValueError("out of range"))
    client.finish_call(outer, {"y": 3}, ended_at=began + datetime.timedelta(seconds=2))
    client.flush()
    check("nothing waits after a flush", client.num_outstanding_jobs, 0)
    check("the project", client.project_id, f"{client.entity}/{client.project}")

    found = client.get_call(outer.id)
    check("inputs", dict(found.inputs), {"x": 1})
    check("output", dict(found.output), {"y": 3})
    check("attributes", found.attributes["tenant"], "blue")
    check("times", [found.started_at, (found.ended_at - found.started_at).total_seconds()], [began, 2])
    child = client.get_call(inner.id)
    check("parent", [child.parent_id, child.trace_id], [outer.id, outer.trace_id])
    check("name", child.display_name, "the inner one")
    check("error", "out of range" in child.exception, True)
    check("status", [found.summary["weave"]["status"], child.summary["weave"]["status"]], ["descendant_error", "error"])
    check("children", [call.id for call in found.children()], [inner.id])
    part = client.get_call(outer.id, columns=["id", "summary"])
    check("status with few columns", part.summary["weave"]["status"], "descendant_error")
    try:
        client.get_call("there-is-none")
    except ValueError as error:
        check("an unknown call", "not found" in told(error), True)
    else:
        raise SystemExit("not ok: an unknown call is found")


@works("get_calls")
def find(client):
    made = [traced(client, question) for question in ("a", "b", "c")]
    ids = [call.id for call in made]
    only = {"call_ids": ids}
    check("by id", {call.id for call in client.get_calls(filter=only)}, set(ids))
    check("counted", len(client.get_calls(filter=only)), 3)
    newest = client.get_calls(filter=only, sort_by=[{"field": "started_at", "direction": "desc"}])
    check("sorted", [call.id for call in newest], ids[::-1])
    check("one of a list", newest[1].id, ids[1])
    check("in pages", [call.id for call in client.get_calls(filter=only, page_size=1)], ids)
    check("from the second on", [call.id for call in client.get_calls(filter=only, offset=1, limit=1)], ids[1:2])
    by_input = {"$expr": {"$eq": [{"$getField": "inputs.question"}, {"$literal": "b"}]}}
    check("by input", [call.id for call in client.get_calls(filter=only, query=by_input)], ids[1:2])
    named = client.get_calls(filter={"op_names": [made[0].op_name], "call_ids": ids[:2]})
    check("by op", len(list(named)), 2)
    one = next(
        iter(
            client.get_calls(
                filter={"call_ids": ids[:1]},
                include_costs=True,
                include_feedback=True,
                include_storage_size=True,
                include_total_storage_size=True,
                include_usernames=True,
            )
        )
    )
    check("with costs", one.summary["weave"]["costs"]["gpt-4o"]["prompt_tokens"], 100)
    check("with feedback", list(one.summary["weave"]["feedback"]), [])
    check("with sizes", [one.storage_size_bytes > 0, one.total_storage_size_bytes > 0], [True, True])
    check("with the user's name", isinstance(one.wb_username, str), True)
    few = next(iter(client.get_calls(filter={"call_ids": ids[:1]}, columns=["inputs.question"])))
    check("a part of the inputs", dict(few.inputs), {"question": "a"})
    check("by the op itself", ids[0] in [call.id for call in answer.calls()], True)


@works("get_calls")
def find_behind_refs(client):
    refs = [weave.publish({"name": name}, "engine") for name in ("first", "second")]
    made = [client.create_call("drive", {"engine": ref.uri(), "n": n}) for n, ref in enumerate(refs)]
    for call in made:
        client.finish_call(call, None)
    client.flush()
    only = {"call_ids": [call.id for call in made]}
    query = {"$expr": {"$eq": [{"$getField": "inputs.engine.name"}, {"$literal": "second"}]}}
    check("not behind the ref", list(client.get_calls(filter=only, query=query)), [])
    found = client.get_calls(filter=only, query=query, expand_columns=["inputs.engine"])
    check("by what a ref leads to", [call.id for call in found], [made[1].id])
    check("its value", found[0].inputs["engine"]["name"], "second")
    by_name = [{"field": "inputs.engine.name", "direction": "desc"}]
    turned = client.get_calls(filter=only, sort_by=by_name, expand_columns=["inputs.engine"])
    check("sorted by it", [call.id for call in turned], [made[1].id, made[0].id])


@works("get_calls")
def find_scored(client):
    @weave.op
    def is_short(output):
        return {"short": len(output["text"]) < 3}

    made = [traced(client, question) for question in ("ab", "abc", "abcd")]
    for call in made[:2]:
        asyncio.run(call.apply_scorer(is_short))
    client.flush()
    only = {"call_ids": [call.id for call in made]}
    scored = client.get_calls(filter=only, scored_by="is_short")
    check("by the name of a scorer", {call.id for call in scored}, {call.id for call in made[:2]})
    by_version = client.get_calls(filter=only, scored_by=[is_short.ref.uri()])
    check("by its version", {call.id for call in by_version}, {call.id for call in made[:2]})
    check("by another", list(client.get_calls(filter=only, scored_by="is_long")), [])
    short = "feedback.[wandb.runnable.is_short].payload.output.short"
    query = {"$expr": {"$eq": [{"$getField": short}, {"$literal": True}]}}
    found = client.get_calls(filter=only, scored_by="is_short", query=query)
    check("by the score", [call.id for call in found], [made[0].id])


@works("delete_call", "delete_calls")
def delete(client):
    made = [traced(client, question) for question in ("x", "y", "z")]
    client.delete_call(made[0])
    client.delete_calls([call.id for call in made[1:]])
    client.flush()
    left = client.get_calls(filter={"call_ids": [call.id for call in made]})
    check("deleted calls", list(left), [])


@works("set_wandb_run_context", "clear_wandb_run_context")
def run_context(client):
    client.set_wandb_run_context("run-1", step=7)
    inside = traced(client, "in a run")
    client.clear_wandb_run_context()
    outside = traced(client, "outside")
    found = {call.id: call for call in client.get_calls(filter={"call_ids": [inside.id, outside.id]})}
    check("the run", found[inside.id].wb_run_id, f"{client.project_id}/run-1")
    check("its step", found[inside.id].wb_run_step, 7)
    check("no run", found[outside.id].wb_run_id, None)
    by_run = client.get_calls(filter={"wb_run_ids": [f"{client.project_id}/run-1"]})
    check("found by run", [call.id for call in by_run], [inside.id])


@works("finish")
def finish(client):
    _, call = answer.call("finished")
    told_states = []
    client.finish(use_progress_bar=False, callback=told_states.append)
    check("what waited has arrived", client.get_call(call.id).output["text"], "FINISHED")
