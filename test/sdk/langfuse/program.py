"""Drives the Python SDK of Langfuse against Weft, and reads back what it has stored."""

import os
import time
from urllib.parse import quote, urlsplit

from langfuse import get_client

client = get_client()
PROJECT = os.environ["PROJECT"]


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


STEPS = [scores, prompts]

for step in STEPS:
    step()
    print(f"python: {step.__name__} ok")
client.shutdown()
