"""lm-evaluation-harness: a task of a file, by chats, by legacy completions, and by the log-probabilities of its choices."""

import json
import os
import pathlib
import sys
import tempfile

from cells import BASE_URL, QUESTION, TEXT, Cannot, run

sys.path.append("tools/tiny")
work = pathlib.Path(tempfile.mkdtemp())
os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work)}

import gguf_reader  # noqa: E402
import lm_eval  # noqa: E402
import tokenizers  # noqa: E402
import transformers  # noqa: E402

CHOICES = ["7", "8", "12"]


def save_tokenizer():
    """The vocabulary of tiny as a folder of transformers."""
    metadata, _ = gguf_reader.read("src/inference/tiny/model/tiny.gguf")
    tokens = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(line.split(" ")) for line in metadata["tokenizer.ggml.merges"]]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|endoftext|>")
    fast.save_pretrained(work / "tokenizer")
    return str(work / "tokenizer")


def evaluate(backend, path, model, settings, task):
    rows = work / "rows.jsonl"
    rows.write_text(json.dumps({"text": TEXT, "question": QUESTION, "choices": CHOICES, "answer": 0}))
    data = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(rows)}}}
    made = lm_eval.simple_evaluate(
        backend,
        model_args={"model": model, "base_url": BASE_URL + path, "max_retries": 1, **settings},
        tasks=[{"task": "sums", "test_split": "test", **data, **task}],
        apply_chat_template=backend == "local-chat-completions",
        bootstrap_iters=0,
    )
    return made["samples"]["sums"][0]


GENERATED = {
    "output_type": "generate_until",
    "doc_to_target": "7",
    "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 20},
}


def plain(model):
    task = {**GENERATED, "doc_to_text": "{{question}}"}
    sample = evaluate("local-chat-completions", "/chat/completions", model, {}, task)
    assert "7" in sample["resps"][0][0], sample["resps"]


def completions(model):
    settings = {"tokenizer": save_tokenizer()}
    task = {**GENERATED, "doc_to_text": "{{text}}"}
    sample = evaluate("local-completions", "/completions", model, settings, task)
    assert "7" in sample["resps"][0][0], sample["resps"]


def logprobs(model):
    settings = {"tokenizer": save_tokenizer()}
    task = {
        "output_type": "multiple_choice",
        "doc_to_text": "{{text}}",
        "doc_to_choice": "choices",
        "doc_to_target": "answer",
        "target_delimiter": "",
    }
    sample = evaluate("local-completions", "/completions", model, settings, task)
    assert sample["acc"] == 1, sample["resps"]


def cannot(_):
    raise Cannot("It measures models: it neither streams nor has tools and schemas.")


run(
    plain=plain,
    stream=cannot,
    tools=cannot,
    structured=cannot,
    completions=completions,
    logprobs=logprobs,
)
