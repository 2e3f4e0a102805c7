"""A program on the Python packages torch, transformers, datasets and TRL, started by run-python.sh.

It chats with a served model, rates what it says, exports the recorded calls, and trains one step of SFT, DPO, rewards and
GRPO from the files, whose columns it uses as they are. The model is a random one of two layers. Exit code 0 means that each
loss is a number and each step has changed the weights.
"""

import base64
import json
import math
import os
import tempfile
import urllib.request
from pathlib import Path

import torch
from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, PreTrainedTokenizerFast
from trl import (
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    RewardConfig,
    RewardTrainer,
    SFTConfig,
    SFTTrainer,
)

URL = os.environ["WEFT_URL"]
KEY = os.environ["WEFT_KEY"]
PROJECT = "acme/trained"
FOLDER = Path(tempfile.mkdtemp())
SAMPLES = 6
FORMS = ["Name an animal.", "Tell me a number.", "Who are you?", "What colour is snow?"]
WEATHER = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}

torch.manual_seed(1)


def send(path, body, **headers):
    basic = base64.b64encode(f"api:{KEY}".encode()).decode()
    authorization = f"Bearer {KEY}" if path.startswith("/v1") else f"Basic {basic}"
    headers = {"authorization": authorization, "content-type": "application/json", **headers}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return response.headers, response.read().decode()


def check(name, holds):
    if not holds:
        raise SystemExit(f"not ok: {name}")
    print(f"ok: {name}")


def rate(call_id, score):
    ref = f"weave:///{PROJECT}/call/{call_id}"
    rating = {"project_id": PROJECT, "weave_ref": ref, "feedback_type": "rating", "payload": {"score": score}}
    send("/traces/feedback/create", rating)


def record_traffic():
    """Chats of the served model, of which the longer ones are better, and two calls of a tool."""
    for form in FORMS:
        for seed in range(SAMPLES):
            messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": form}]
            chat = {"model": "tiny", "messages": messages, "max_tokens": 12, "temperature": 1.5, "seed": seed}
            headers, text = send("/v1/chat/completions", chat, **{"openai-project": PROJECT})
            content = json.loads(text)["choices"][0]["message"]["content"]
            rate(headers["x-weft-call-id"], min(1, len(content) / 60))
    for number, score in enumerate([1, 0]):
        at = {"project_id": PROJECT, "id": f"tool-{number}"}
        messages = [{"role": "user", "content": "Weather in Oslo?"}]
        inputs = {"model": "tiny", "messages": messages, "tools": [{"type": "function", "function": WEATHER}]}
        start = {**at, "op_name": "chat", "started_at": "2026-01-31T09:30:00Z", "attributes": {}, "inputs": inputs}
        send("/call/start", {"start": start})
        called = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
        message = [{"content": None, "tool_calls": [called]}, {"content": "I do not know."}][number]
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
        send("/call/end", {"end": {**at, "ended_at": "2026-01-31T09:30:01Z", "output": {"choices": [choice]}}})
        rate(at["id"], score)


def export(format):
    """The rows of a format as trainers get them."""
    body = {"project_id": PROJECT, "format": format, "reward": {"feedback_type": "rating"}, "held_out": 0}
    path = FOLDER / f"{format}.jsonl"
    path.write_text(send("/v1/preview/training-data/export", body)[1])
    return load_dataset("json", data_files=str(path), split="train", cache_dir=str(FOLDER / "cache"))


def make_tokenizer():
    """A token for each byte, and a template that shows roles, contents, tools and calls of them."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = ["<pad>", "<end>", *letters]
    plain = Tokenizer(models.BPE({name: number for number, name in enumerate(names)}, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<end>")
    tokenizer.chat_template = (
        "{% for t in tools or [] %}<{{ t.function.name }} {{ t.function.parameters | tojson }}>{% endfor %}"
        "{% for m in messages %}[{{ m.role }}]{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}({{ c.function.name }} {{ c.function.arguments }}){% endfor %}"
        "{% if m.role == 'assistant' %}<end>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}[assistant]{% endif %}"
    )
    return tokenizer


def make_model(tokenizer, kind=LlamaForCausalLM, **more):
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    folder = FOLDER / kind.__name__
    kind(LlamaConfig(vocab_size=len(tokenizer), **sizes, **ends, **more)).save_pretrained(folder)
    return kind.from_pretrained(folder)


def train(name, trainer):
    """Trains, and checks the loss of the step and the weights after it."""
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    loss = trainer.train().training_loss
    after = list(trainer.model.parameters())
    check(f"{name}: the loss {loss:.4f} is a number", math.isfinite(loss))
    check(f"{name}: the weights are finite", all(torch.isfinite(weight).all() for weight in after))
    check(f"{name}: the weights changed", any(not torch.equal(a, b) for a, b in zip(before, after)))


def settings(name, **more):
    common = {"max_steps": 1, "use_cpu": True, "report_to": [], "save_strategy": "no", "disable_tqdm": True, "bf16": False}
    return {"output_dir": str(FOLDER / name), "per_device_train_batch_size": 4, "learning_rate": 1e-3, **common, **more}


record_traffic()
tokenizer = make_tokenizer()
common = {"processing_class": tokenizer}

rows = export("trl_sft")
check("trl_sft: a row for each prompt", len(rows) == len(FORMS) + 1)
trainer = SFTTrainer(make_model(tokenizer), SFTConfig(**settings("sft", max_length=512)), train_dataset=rows, **common)
texts = [tokenizer.decode(row["input_ids"]) for row in trainer.train_dataset]
check("trl_sft: the tool is in the prompt that has it", sum("<weather" in text for text in texts) == 1)
train("trl_sft", trainer)

rows = export("trl_dpo")
check("trl_dpo: rows", len(rows) > 1)
trainer = DPOTrainer(make_model(tokenizer), args=DPOConfig(**settings("dpo", max_length=512)), train_dataset=rows, **common)
train("trl_dpo", trainer)
scorer = make_model(tokenizer, LlamaForSequenceClassification, num_labels=1)
train("trl_dpo for rewards", RewardTrainer(scorer, RewardConfig(**settings("reward", max_length=512)), train_dataset=rows, **common))

rows = export("trl_grpo")
seen = []


def reward(completions, best_response, best_reward, mean_reward, **others):
    """How far a completion shares letters with the best one, which is worth its reward; the mean is the base."""
    seen.extend(zip(best_reward, mean_reward, others["tools"]))
    shared = [len(set(done[0]["content"]) & set(best)) for done, best in zip(completions, best_response)]
    return [(count / 20) * best - mean for count, best, mean in zip(shared, best_reward, mean_reward)]


more = {"num_generations": 4, "max_completion_length": 8, "per_device_train_batch_size": 4 * len(rows)}
arguments = GRPOConfig(**settings("grpo", **more))
trainer = GRPOTrainer(make_model(tokenizer), reward_funcs=reward, args=arguments, train_dataset=rows, **common)
train("trl_grpo", trainer)
check("trl_grpo: rewards of each row", len(seen) == 4 * len(rows) and all(best >= mean for best, mean, _ in seen))
check("trl_grpo: the reward function gets the tools", {tools for *_, tools in seen if tools} == set(rows["tools"]) - {None})
