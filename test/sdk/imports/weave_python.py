"""Publishes with the weave client, or reads all of it again by the same refs in another project or server."""

import asyncio
import json
import os
import sys

import weave

MODE, PROJECT, STATE = sys.argv[1:4]


class Shouter(weave.Model):
    prompt: weave.StringPrompt

    @weave.op
    def predict(self, question: str) -> str:
        return self.prompt.format(question=question).upper()


@weave.op
def exact(answer: str, output: str) -> dict:
    return {"exact": output.endswith(answer.upper())}


@weave.op
def tell(document: weave.Content) -> weave.Content:
    return document


def fill():
    prompt = weave.StringPrompt("say {question}")
    refs = {"prompt": weave.publish(prompt, name="say")}
    refs["prompt 2"] = weave.publish(weave.StringPrompt("shout {question}"), name="say")
    rows = [{"question": f"größe {at}", "answer": f"größe {at}", "weight": float(at)} for at in range(3)]
    dataset = weave.Dataset(name="asked", rows=rows)
    refs["dataset"] = weave.publish(dataset)
    model = Shouter(name="shouter", prompt=prompt)
    refs["model"] = weave.publish(model)
    evaluation = weave.Evaluation(name="loudness", dataset=dataset, scorers=[exact])
    refs["evaluation"] = weave.publish(evaluation)
    asyncio.run(evaluation.evaluate(model))
    refs["op"] = weave.publish(exact)
    tell(weave.Content.from_text("größe 😀 " * 1000))
    return {name: ref.uri() for name, ref in refs.items()}


def shown(name, value):
    """What a published value says of itself, without the project."""
    if name.startswith("prompt"):
        return value.content
    if name == "dataset":
        return [dict(row) for row in value.rows]
    if name == "model":
        return [value.name, value.prompt.content, value.predict.name]
    if name == "evaluation":
        return [shown("dataset", value.dataset), [scorer.name for scorer in value.scorers]]
    return value(answer="a", output="XA")


def read(refs, client):
    found = {name: shown(name, weave.ref(uri).get(objectify=False)) for name, uri in refs.items()}
    calls = list(client.get_calls(sort_by=[{"field": "started_at", "direction": "asc"}]))
    calls = [call for call in calls if call.id in known]
    examples = [call.inputs["example"] for call in calls if call.op_name.split("/")[-1].startswith("Evaluation.predict_and_score")]
    found["examples"] = sorted(dict(example)["question"] for example in examples)
    [told] = [call for call in calls if "/op/tell:" in call.op_name]
    found["content"] = told.output.as_string()[:20]
    return json.loads(json.dumps(found, default=str))


client = weave.init(PROJECT)
if MODE == "fill":
    refs = fill()
    client.flush()
    known = {call.id for call in client.get_calls()}
    found = read(refs, client)
    with open(STATE, "w") as file:
        json.dump({"project": PROJECT, "refs": refs, "known": sorted(known), "found": found}, file)
    print(f"ok: published {', '.join(refs)}")
else:
    with open(STATE) as file:
        state = json.load(file)
    known = set(state["known"])
    refs = {name: uri.replace(f"/{state['project']}/", f"/{PROJECT}/") for name, uri in state["refs"].items()}
    found = read(refs, client)
    for name, value in state["found"].items():
        if found[name] != value:
            sys.exit(f"not ok: {name} is {found[name]!r}, not {value!r}")
    if PROJECT == state["project"]:
        again = fill()
        for name, uri in refs.items():
            if again[name] != uri:
                sys.exit(f"not ok: {name} is published as {again[name]}, not {uri}")
        print("ok: what is published again has the digests that were imported")
    print(f"ok: {', '.join(found)} are read from {PROJECT}")
client.finish()
