"""Drives the Python SDK of Langfuse against Weft, and reads back what it has stored."""

import base64
import json
import os
import time
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from langfuse import Evaluation, get_client, propagate_attributes
from langfuse.media import LangfuseMedia

client = get_client()
PROJECT = os.environ["PROJECT"]
KEY = base64.b64encode(f"api:{os.environ['LANGFUSE_SECRET_KEY']}".encode()).decode()


def wait_for(read, is_there):
    """Reads until something is there: spans and scores are sent in the background."""
    for _ in range(50):
        value = read()
        if is_there(value):
            return value
        time.sleep(0.1)
    raise AssertionError(f"not there: {value}")


def scores():
    assert client.auth_check()
    with client.start_as_current_observation(name="answer", as_type="generation") as span:
        span.update(input="q", output="a", model="m")
        span.score(name="accuracy", value=0.5, comment="half")
        span.score_trace(name="tone", value="kind")
        trace_id, span_id = span.trace_id, span.id
    client.create_score(name="passed", value=1, data_type="BOOLEAN", trace_id=trace_id, score_id="py-1")
    client.create_score(name="session", value=3, session_id="chat 1", metadata={"by": "test"})
    client.flush()
    assert urlsplit(client.get_trace_url(trace_id=trace_id)).path == f"/project/{PROJECT}/traces/{trace_id}"
    found = wait_for(lambda: client.api.scores.get_many(limit=3), lambda page: len(page.data) == 3)
    rest = client.api.scores.get_many(limit=3, cursor=found.meta.cursor)
    by_name = {score.name: score for score in [*found.data, *rest.data]}
    assert set(by_name) == {"accuracy", "tone", "passed", "session"}, by_name
    assert rest.meta.cursor is None
    assert by_name["accuracy"].value == 0.5 and by_name["accuracy"].subject.id == span_id
    assert by_name["tone"].value == "kind" and by_name["tone"].subject.kind == "trace"
    assert by_name["passed"].value is True and by_name["passed"].id == "py-1"
    assert by_name["session"].metadata == {"by": "test"}
    client.api.scores.delete("py-1")
    assert len(client.api.scores.get_many(trace_id=trace_id).data) == 2


def prompts():
    first = client.create_prompt(name="team/greet", prompt="Hi {{name}}", labels=["production"], config={"t": 0.5}, tags=["x"])
    assert (first.version, first.labels, first.tags) == (1, ["production", "latest"], ["x"]), first
    messages = [{"role": "system", "content": "Be {{tone}}"}, {"type": "placeholder", "name": "history"}]
    client.create_prompt(name="chat", type="chat", prompt=messages, labels=["production"])
    second = client.create_prompt(name="team/greet", prompt="Hello {{name}}", labels=["staging"], commit_message="warm")
    assert (second.version, second.commit_message, second.tags) == (2, "warm", ["x"]), second
    assert client.get_prompt("team/greet").compile(name="Ada") == "Hi Ada"
    assert client.get_prompt("team/greet", label="staging").version == 2
    assert client.get_prompt("team/greet", version=1).config == {"t": 0.5}
    chat = client.get_prompt("chat", type="chat").compile(tone="kind", history=[{"role": "user", "content": "q"}])
    assert chat == [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "q"}], chat
    client.update_prompt(name="team/greet", version=2, new_labels=["production"])
    assert client.get_prompt("team/greet", cache_ttl_seconds=0).version == 2
    # An expired entry of the cache is used while a thread reads the new version.
    assert client.get_prompt("team/greet", label="latest", cache_ttl_seconds=1).version == 2
    time.sleep(1.1)
    client.api.prompts.create(request={"type": "text", "name": "team/greet", "prompt": "3"})
    client.get_prompt("team/greet", label="latest", cache_ttl_seconds=1)
    wait_for(lambda: client.get_prompt("team/greet", label="latest").version, lambda version: version == 3)
    listed = {meta.name: meta for meta in client.api.prompts.list().data}
    assert sorted(listed["team/greet"].versions) == [1, 2, 3] and set(listed) == {"team/greet", "chat"}, listed
    # The client below `api` puts names into addresses as they are.
    client.api.prompts.delete(quote("team/greet", safe=""), version=1)
    client.api.prompts.delete("chat")
    assert [meta.versions for meta in client.api.prompts.list().data] == [[2, 3]]
    fallback = client.get_prompt("none", fallback="F")
    assert fallback.is_fallback and fallback.prompt == "F"


def datasets():
    made = client.create_dataset(name="qa/capitals", description="D", metadata={"a": 1})
    for country, capital in [("France", "Paris"), ("Peru", "Lima"), ("Chad", "N'Djamena")]:
        client.create_dataset_item(
            dataset_name="qa/capitals", id=country, input={"country": country}, expected_output=capital, metadata={"n": 1}
        )
    client.create_dataset_item(dataset_name="qa/capitals", id="Chad", status="ARCHIVED")
    dataset = client.get_dataset("qa/capitals", fetch_items_page_size=1)
    assert [item.id for item in dataset.items] == ["France", "Peru"], dataset.items
    assert dataset.description == "D" and dataset.id == made.id
    earlier = client.get_dataset("qa/capitals", version=dataset.items[0].updated_at)
    assert [item.id for item in earlier.items] == ["France"], earlier.items
    assert client.api.dataset_items.get("Peru").expected_output == "Lima"
    assert client.api.datasets.list().meta.total_items == 1


def weft(path, body):
    request = Request(
        os.environ["LANGFUSE_BASE_URL"] + path,
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "authorization": f"Basic {KEY}"},
    )
    with urlopen(request) as response:
        return json.load(response)


def experiments():
    def task(*, item, **_):
        country = item["input"]["country"] if isinstance(item, dict) else item.input["country"]
        with client.start_as_current_observation(name="model", as_type="generation") as span:
            span.update(model="m", usage_details={"input": 3, "output": 2})
        return "Paris" if country == "France" else "?"

    def exact(*, output, expected_output, **_):
        return Evaluation(name="exact", value=float(output == expected_output), comment="c")

    def mean(*, item_results, **_):
        values = [result.evaluations[0].value for result in item_results]
        return Evaluation(name="mean", value=sum(values) / len(values))

    dataset = client.get_dataset("qa/capitals")
    result = dataset.run_experiment(
        name="try", run_name="run 1", description="first", task=task, evaluators=[exact], run_evaluators=[mean]
    )
    assert len(result.item_results) == 2 and result.run_evaluations[0].value == 0.5
    client.flush()
    query = {"evaluation_call_ids": [result.experiment_id], "include_rows": True, "include_raw_data_rows": True, "include_summary": True}

    def read():
        return weft(f"/v2/{PROJECT}/eval_results/query", query)

    found = wait_for(read, lambda found: (found["summary"] or {"row_count": 0})["row_count"] == 2)
    rows = sorted(found["rows"], key=lambda row: row["raw_data_row"]["id"])
    assert [row["raw_data_row"]["expected_output"] for row in rows] == ["Paris", "Lima"], rows
    trials = [row["evaluations"][0]["trials"][0] for row in rows]
    assert [(trial["model_output"], trial["scores"]) for trial in trials] == [
        ("Paris", {"exact": 1}),
        ("?", {"exact": 0}),
    ], trials
    evaluation = found["summary"]["evaluations"][0]
    assert evaluation["display_name"] == "run 1" and evaluation["scorer_stats"][0]["numeric_mean"] == 0.5
    scores = client.api.scores.get_many(experiment_id=result.experiment_id).data
    assert [(score.name, score.value, score.subject.kind) for score in scores] == [("mean", 0.5, "experiment")]
    # A run over items of the program itself.
    local = client.run_experiment(name="local", data=[{"input": {"country": "France"}, "expected_output": "Paris"}], task=task)
    client.flush()
    query["evaluation_call_ids"] = [local.experiment_id]
    found = wait_for(read, lambda found: (found["summary"] or {"row_count": 0})["row_count"] == 1)
    assert found["rows"][0]["raw_data_row"]["input"] == {"country": "France"}


def reading():
    with client.start_as_current_observation(name="root", as_type="span", input={"q": 1}) as root:
        with propagate_attributes(user_id="ada", session_id="chat-2", tags=["red", "blue"], trace_name="support"):
            with client.start_as_current_observation(name="write", as_type="generation", model="gpt-4o") as span:
                span.update(output="a", usage_details={"input": 3, "output": 4}, cost_details={"total": 0.5}, metadata={"long": "x" * 500})
            with client.start_as_current_observation(name="find", as_type="tool", level="ERROR", status_message="boom"):
                pass
        trace_id, root_id = root.trace_id, root.id
    client.flush()
    fields = "core,basic,time,io,metadata,model,usage,prompt,metrics,trace_context"

    def read(**asked):
        return client.api.observations.get_many(trace_id=trace_id, **asked)

    found = wait_for(lambda: read(fields=fields), lambda page: len(page.data) == 3).data
    by_name = {one.name: one for one in found}
    assert [one.name for one in found] == ["find", "write", "root"]
    write = by_name["write"]
    assert (write.type, write.model, write.total_cost, write.usage_details) == ("GENERATION", "gpt-4o", 0.5, {"input": 3, "output": 4})
    context = (write.user_id, write.session_id, sorted(write.tags), write.trace_name)
    assert context == ("ada", "chat-2", ["blue", "red"], "support"), context
    assert write.metadata["long"] == "x" * 500 and write.parent_observation_id == root_id
    assert json.loads(by_name["root"].input) == {"q": 1} and by_name["root"].is_root_observation
    assert (by_name["find"].type, by_name["find"].level, by_name["find"].status_message) == ("TOOL", "ERROR", "boom")
    names = []
    page = read(limit=1)
    while True:
        names += [one.name for one in page.data]
        if page.meta.cursor is None:
            break
        page = read(limit=1, cursor=page.meta.cursor)
    assert names == ["find", "write", "root"], names
    only = [{"type": "stringOptions", "column": "type", "operator": "any of", "value": ["TOOL"]}]
    assert [one.name for one in read(filter=json.dumps(only)).data] == ["find"]
    assert [one.name for one in read(level="ERROR").data] == ["find"]
    assert client.api.trace.delete_multiple(trace_ids=[trace_id]).message
    assert read().data == []


def media():
    picture = "data:image/png;base64," + base64.b64encode(b"\x89PNG some bytes").decode()
    asked = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": picture}}]}]
    sound = LangfuseMedia(content_bytes=b"RIFF" + b"x" * 200_000, content_type="audio/wav")
    with client.start_as_current_observation(name="seen", as_type="generation", input=asked, output={"said": sound}) as span:
        trace_id = span.trace_id
    client.flush()

    def read():
        return client.api.observations.get_many(trace_id=trace_id, fields="core,io").data

    [found] = wait_for(read, lambda found: len(found) == 1)
    assert picture not in found.input and "@@@langfuseMedia:type=image/png|id=" in found.input, found.input

    def resolve(value):
        return LangfuseMedia.resolve_media_references(obj=value, langfuse_client=client, resolve_with="base64_data_uri")

    assert resolve(json.loads(found.input)) == asked
    record = client.api.media.get(sound._media_id)
    assert (record.content_type, record.content_length) == ("audio/wav", 200_004), record
    assert resolve(json.loads(found.output))["said"].endswith(base64.b64encode(b"x" * 99).decode()[-20:])
    client.create_dataset(name="pictures")
    client.create_dataset_item(dataset_name="pictures", id="one", input={"picture": LangfuseMedia(base64_data_uri=picture)})
    [item] = client.get_dataset("pictures").items
    assert resolve(item.input) == {"picture": picture}, item.input


def metrics():
    query = {
        "view": "observations",
        "dimensions": [{"field": "providedModelName"}],
        "metrics": [{"measure": "inputTokens", "aggregation": "sum"}],
        "fromTimestamp": "2026-01-01T00:00:00Z",
        "toTimestamp": "2060-01-01T00:00:00Z",
    }
    with client.start_as_current_observation(name="counted", as_type="generation", model="of-metrics") as span:
        span.update(usage_details={"input": 3, "output": 4})
    client.flush()

    def read():
        return client.api.metrics.metrics(query=json.dumps(query)).data

    wait_for(read, lambda rows: {"providedModelName": "of-metrics", "sum_inputTokens": 3} in rows)


STEPS = [scores, prompts, datasets, experiments, reading, media, metrics]

for step in STEPS:
    step()
    print(f"python: {step.__name__} ok")
client.shutdown()
