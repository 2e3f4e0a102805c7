"""A program that loads exported training data with the libraries it is for, started by run-python.sh.

It records and rates chats of a project, exports them in each format, and reads the files with the loaders of datasets, TRL,
openai, openpipe-art and verifiers, those of them that are installed. Exit code 0 means that all of it was right.
"""

import base64
import importlib.util
import json
import os
import tempfile
import urllib.request
from pathlib import Path

URL = os.environ["WEFT_URL"]
KEY = os.environ["WEFT_KEY"]
PROJECT = "acme/exports"
FOLDER = Path(tempfile.mkdtemp())


def send(path, body):
    basic = base64.b64encode(f"api:{KEY}".encode()).decode()
    authorization = f"Bearer {KEY}" if path.startswith("/v1") else f"Basic {basic}"
    headers = {"authorization": authorization, "content-type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


def check(name, found, expected=True):
    if found != expected:
        raise SystemExit(f"not ok: {name}: {found!r} is not {expected!r}")
    print(f"ok: {name}")


def has(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    for name in missing:
        print(f"skipped: {name} is not installed")
    return not missing


def tool(name, parameter):
    parameters = {"type": "object", "properties": {parameter: {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


def call(name, **arguments):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def record(id, messages, message, score, **more):
    at = {"project_id": PROJECT, "id": id}
    start = {"op_name": "chat", "started_at": "2026-01-31T09:30:00Z", "attributes": {}}
    send("/call/start", {"start": {**at, **start, "inputs": {"model": "tiny", "messages": messages, **more}}})
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    made = {"token_ids": [7, 8], "logprobs": {"content": [{"token": t, "logprob": -0.5, "bytes": None, "top_logprobs": []} for t in "xy"]}}
    output = {"model": "tiny", "prompt_token_ids": [1, 2, 3], "choices": [{**choice, **made}]}
    send("/call/end", {"end": {**at, "ended_at": "2026-01-31T09:30:01Z", "output": output}})
    ref = f"weave:///{PROJECT}/call/{id}"
    rating = {"project_id": PROJECT, "weave_ref": ref, "feedback_type": "rating", "payload": {"score": score}}
    send("/traces/feedback/create", rating)


def export(format):
    text = send(
        "/v1/preview/training-data/export",
        {"project_id": PROJECT, "format": format, "reward": {"feedback_type": "rating"}},
    )
    path = FOLDER / f"{format}.jsonl"
    path.write_text(text)
    return path, [json.loads(line) for line in text.splitlines()]


# Prompts whose tools have other parameters, contents as a text and as parts, calls of tools, and one without tools.
FIRST = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Weather in Oslo?"}]
SECOND = [{"role": "user", "content": [{"type": "text", "text": "Two plus"}, {"type": "text", "text": " two?"}]}]
THIRD = [
    {"role": "user", "content": "And in Rome?"},
    {"role": "assistant", "content": None, "tool_calls": [call("weather", city="Rome")]},
    {"role": "tool", "tool_call_id": "c1", "content": "sun"},
]
record("a1", FIRST, {"content": None, "tool_calls": [call("weather", city="Oslo")]}, 1, tools=[tool("weather", "city")])
record("a2", FIRST, {"content": "I do not know."}, 0, tools=[tool("weather", "city")])
record("b1", SECOND, {"content": "4"}, 1, tools=[tool("add", "numbers")])
record("b2", SECOND, {"content": "5"}, 0, tools=[tool("add", "numbers")])
record("c1", THIRD, {"content": "Sun."}, 0.75, tools=[tool("weather", "city")])
record("d1", [{"role": "user", "content": "Hi"}], {"content": "Ho"}, 0.5)

files = {
    format: export(format)
    for format in ["trl_grpo", "trl_sft", "trl_dpo", "openai_sft", "openai_dpo", "openai_rft", "art", "verifiers"]
}
check("lines by format", {name: len(lines) for name, (_, lines) in files.items()}, {
    "trl_grpo": 4, "trl_sft": 4, "trl_dpo": 2, "openai_sft": 4, "openai_dpo": 2, "openai_rft": 4, "art": 4, "verifiers": 4,
})

if has("datasets", "trl", "transformers", "tokenizers"):
    import trl
    from datasets import load_dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    from trl.data_utils import apply_chat_template, extract_prompt, is_conversational, unpair_preference_dataset

    plain = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="?")
    tokenizer.chat_template = (
        "{% for t in tools or [] %}<{{ t.function.name }} {{ t.function.parameters | tojson }}>{% endfor %}"
        "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}({{ c.function.name }} {{ c.function.arguments }}){% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    for format in ["trl_grpo", "trl_sft", "trl_dpo"]:
        path, lines = files[format]
        # As the trainers get it: through Arrow.
        rows = load_dataset("json", data_files=str(path), split="train", cache_dir=str(FOLDER / "cache"))
        check(f"{format}: conversational for TRL {trl.__version__}", all(is_conversational(row) for row in rows))
        for row, line in zip(rows, lines):
            tools = row.get("tools")
            check(f"{format}: tools as they were", tools, line.get("tools"))
            texts = apply_chat_template(row, tokenizer, tools=json.loads(tools) if tools else None)
            check(f"{format}: the template has the prompt", "[user]" in texts["prompt"])
            if tools:
                own = json.loads(tools)[0]["function"]["parameters"]["properties"]
                check(f"{format}: only the own parameters", json.dumps({"type": "object", "properties": own}) in texts["prompt"])
        if format == "trl_dpo":
            check("trl_dpo: unpaired", len(unpair_preference_dataset(rows)), 4)

if has("openai"):
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
    from pydantic import TypeAdapter

    # No release has a loader of these files: what they hold is checked against the types of requests.
    messages = TypeAdapter(list[ChatCompletionMessageParam])
    tools = TypeAdapter(list[ChatCompletionToolParam])
    for line in files["openai_sft"][1] + files["openai_rft"][1]:
        messages.validate_python(line["messages"])
        tools.validate_python(line.get("tools", []))
    check("openai_sft: ends with a response", {line["messages"][-1]["role"] for line in files["openai_sft"][1]}, {"assistant"})
    for line in files["openai_dpo"][1]:
        messages.validate_python(line["input"]["messages"])
        tools.validate_python(line["input"].get("tools", []))
        for side in ["preferred_output", "non_preferred_output"]:
            messages.validate_python(line[side])
            check(f"openai_dpo: one {side}", len(line[side]), 1)

if has("art"):
    from art.trajectories import Trajectory, TrajectoryGroup, get_messages
    from openai.types.chat.chat_completion import Choice

    for line in files["art"][1]:
        # Validation of a group keeps no trajectory that is not an object yet, and that of a trajectory makes no Choice.
        trajectories = [Trajectory.model_validate(one) for one in line["trajectories"]]
        for trajectory in trajectories:
            items = trajectory.messages_and_choices
            trajectory.messages_and_choices = [Choice.model_validate(one) if "finish_reason" in one else one for one in items]
        group = TrajectoryGroup(trajectories=trajectories)
        check("art: trajectories", len(group.trajectories), len(line["trajectories"]))
        for trajectory in group.trajectories:
            last = trajectory.messages_and_choices[-1]
            check("art: the last item is a choice", isinstance(last, Choice))
            check("art: a message for each item", len(get_messages(trajectory.messages_and_choices)), len(trajectory.messages_and_choices))

if has("verifiers"):
    from verifiers.v1 import WireTrace
    from verifiers.v1.utils.trace_store import TRACES_FILE, read_episodes

    folder = FOLDER / "run"
    folder.mkdir()
    (folder / TRACES_FILE).write_text(files["verifiers"][0].read_text())
    episodes = read_episodes(folder, WireTrace)
    check("verifiers: episodes", len(episodes), 4)
    for episode in episodes:
        for trace in episode.traces:
            [branch] = trace.branches
            check("verifiers: tokens of prompt and response", branch.token_ids, [1, 2, 3, 7, 8])
            check("verifiers: what was sampled", branch.sampled_mask, [False, False, False, True, True])
            check("verifiers: log probabilities", branch.logprobs, [0.0, 0.0, 0.0, -0.5, -0.5])
            check("verifiers: a reward", 0 <= trace.reward <= 1)
