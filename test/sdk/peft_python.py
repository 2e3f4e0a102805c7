"""A program on the Python packages peft, torch and transformers, started by run-python.sh.

It trains a step over HTTP, loads the adapter that it downloads over the model file, and compares log-probabilities with
those of the server. Exit code 0 means that they are the same.
"""

import io
import json
import os
import tarfile
import time
import urllib.request

import peft
import torch
import transformers

URL = os.environ["OPENAI_BASE_URL"]
KEY = os.environ["OPENAI_API_KEY"]
MODEL_DIR = "src/inference/tiny/model"
QUESTION = {"role": "user", "content": "Name an animal."}
# Log-probabilities of single precision, summed up in another order.
DIFFERENCE_MAX = 1e-3
WAIT_S = 60


def send(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers), timeout=WAIT_S) as answer:
        return answer.read()


def call(path, body=None):
    return json.loads(send(path, body))


def ask(model, **more):
    request = {"model": model, "messages": [QUESTION], "return_token_ids": True, "logprobs": True, **more}
    return call("/chat/completions", request)


def train():
    wanted = {"entity": "acme", "project": "peft", "name": "adapted", "base_model": "tiny"}
    model_id = call("/preview/models", wanted)["id"]
    prompt = ask("tiny", n=16, max_tokens=6, seed=1)
    choices = [{**choice, "prompt_token_ids": prompt["prompt_token_ids"]} for choice in prompt["choices"]]
    rollouts = [
        {"reward": place, "messages_and_choices": [QUESTION, choice]} for place, choice in enumerate(choices)
    ]
    job = {"model_id": model_id, "trajectory_groups": [{"trajectories": rollouts}]}
    job["experimental_config"] = {"learning_rate": 0.02}
    job_id = call("/preview/training-jobs", job)["id"]
    end = time.monotonic() + WAIT_S
    while call(f"/preview/training-jobs/{job_id}")["status"] != "succeeded":
        if time.monotonic() > end:
            raise SystemExit("not ok: the job has not succeeded")
        time.sleep(0.1)
    return send(f"/preview/models/{model_id}/checkpoints/1/artifact")


def logprobs_of(model, ids):
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)


def difference(model, name):
    """Of all prompt tokens and of the twenty likeliest next ones; the first token has no log-probability."""
    answer = ask(name, max_tokens=1, temperature=0, prompt_logprobs=0, top_logprobs=20)
    ids = answer["prompt_token_ids"]
    mine = logprobs_of(model, ids)
    told = [entry[str(ids[place])]["logprob"] for place, entry in enumerate(answer["prompt_logprobs"]) if entry]
    found = [mine[place][ids[place + 1]].item() for place in range(len(ids) - 1)]
    told += [entry["logprob"] for entry in answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]]
    found += mine[-1].topk(20).values.tolist()
    return max(abs(a - b) for a, b in zip(told, found, strict=True))


def check(name, is_right, value):
    if not is_right:
        raise SystemExit(f"not ok: {name}: {value}")
    print(f"ok: {name}: {value}")


folder = os.path.join(os.environ["HOME"], "adapter")
with tarfile.open(fileobj=io.BytesIO(train())) as archive:
    archive.extractall(folder, filter="data")
base = transformers.AutoModelForCausalLM.from_pretrained(MODEL_DIR, gguf_file="tiny.gguf", dtype=torch.float32)
found = difference(base, "tiny")
check("the base model has the log-probabilities of the server", found < DIFFERENCE_MAX, found)
adapted = peft.PeftModel.from_pretrained(base, folder).eval()
found = difference(adapted, "adapted")
check("and so has the adapter over it", found < DIFFERENCE_MAX, found)
found = difference(adapted, "tiny")
check("which is another model", found > 10 * DIFFERENCE_MAX, found)
