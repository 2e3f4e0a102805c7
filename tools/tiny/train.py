#!/usr/bin/env python3
"""Trains the tiny model on the text of corpus.py and writes it as GGUF. See README.md.

Usage: train.py --corpus FILE --out tiny.gguf [--base FILE] [--steps 2200] [--rate 1] [--seed 1]
"""

import argparse
import json
import math
import time

import numpy as np
import torch
from torch.nn import functional as F

import bpe
import gguf_reader
import gguf_writer as gguf
from llama import Llama, Shape
from chat_template import TEMPLATE
from muon import Muon

END_OF_TEXT, START, END = 0, 1, 2
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# Row length and rows of one step: always 2,048 tokens, mostly in short rows.
LENGTHS = [(128, 16)] * 5 + [(256, 8)] * 9 + [(512, 4)] * 4 + [(1024, 2), (2048, 1)]
PROMPT_WEIGHT = 0.1
ADAM_RATE, MUON_RATE = 4e-3, 0.02


def tokenize(chat, encoder):
    """Ids and weights of one chat. The answers weigh 1: they are what is to be learnt."""
    ids, weights = [], []
    for role, text in chat:
        head = [START] + encoder.encode(role + "\n")
        body = encoder.encode(text) + [END]
        tail = encoder.encode("\n")
        answer = role == "assistant"
        ids += head + body + tail
        weights += [PROMPT_WEIGHT] * len(head)
        weights += [1.0 if answer else PROMPT_WEIGHT] * len(body)
        weights += [PROMPT_WEIGHT] * len(tail)
    return ids + [END_OF_TEXT], weights + [PROMPT_WEIGHT]


def batch(rng, chats, ids, weights, length, rows):
    """Rows that each begin at a chat's beginning and run on into the next chats."""
    starts = [chats[i] for i in rng.integers(0, len(chats), rows)]
    starts = [min(s, len(ids) - length - 1) for s in starts]
    window = np.stack([np.arange(s, s + length + 1) for s in starts])
    x = torch.from_numpy(ids[window].astype(np.int64))
    return x[:, :-1], x[:, 1:], torch.from_numpy(weights[window])[:, 1:]


def loss_of(model, x, y, w):
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="none")
    return (loss * w.flatten()).sum() / w.sum()


def rate(step, steps, top):
    """Warms up for 60 steps, then falls along a cosine to a fiftieth."""
    if step < 60:
        return top * (step + 1) / 60
    x = (step - 60) / max(1, steps - 60)
    return top * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * x)))


def fit(model, data, steps, factor, rng):
    """Muon for the matrices of the layers, AdamW for the embedding and the norms; `factor` scales both rates."""
    matrices = [p for block in model.blk for p in block.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if all(p is not m for m in matrices)]
    adam = torch.optim.AdamW(others, betas=(0.9, 0.97), weight_decay=0.0)
    muon = Muon(matrices)
    seen, smooth, begun = 0, None, time.process_time()
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate(step, steps, factor * ADAM_RATE)
        muon.rate = rate(step, steps, factor * MUON_RATE)
        length, rows = LENGTHS[rng.integers(0, len(LENGTHS))]
        loss = loss_of(model, *batch(rng, *data, length, rows))
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        muon.step()
        seen += length * rows
        smooth = loss.item() if smooth is None else 0.97 * smooth + 0.03 * loss.item()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step} loss {smooth:.3f} tokens {seen} cpu {time.process_time() - begun:.0f} s", flush=True)


def vocabulary(chats, size):
    """The tokens and merges of a new model."""
    base = SPECIALS + [bpe.BYTES[b] for b in range(256)]
    sample = [text for chat in chats for role, text in chat] + [role + "\n" for chat in chats for role, text in chat]
    merges = bpe.train(sample, size - len(base))
    return base + [a + b for a, b in merges], merges


def load(path, model):
    """Takes the weights of a model over and answers its tokens and merges."""
    metadata, tensors = gguf_reader.read(path)
    for name, p in model.named_parameters():
        p.data = torch.from_numpy(tensors[name])
    merges = [tuple(line.split(" ")) for line in metadata["tokenizer.ggml.merges"]]
    return metadata["tokenizer.ggml.tokens"], merges


def export(path, model, tokens, merges):
    s = model.s
    kinds = [3] * len(SPECIALS) + [1] * (len(tokens) - len(SPECIALS))
    metadata = [
        ("general.architecture", gguf.STRING, "llama"),
        ("general.name", gguf.STRING, "tiny"),
        ("general.license", gguf.STRING, "Apache-2.0"),
        ("general.file_type", gguf.U32, 1),
        ("llama.vocab_size", gguf.U32, s.vocab),
        ("llama.context_length", gguf.U32, s.context),
        ("llama.embedding_length", gguf.U32, s.dim),
        ("llama.block_count", gguf.U32, s.layers),
        ("llama.feed_forward_length", gguf.U32, s.ff),
        ("llama.attention.head_count", gguf.U32, s.heads),
        ("llama.attention.head_count_kv", gguf.U32, s.kv_heads),
        ("llama.attention.layer_norm_rms_epsilon", gguf.F32, s.eps),
        ("llama.rope.dimension_count", gguf.U32, s.dim // s.heads),
        ("llama.rope.freq_base", gguf.F32, s.rope_base),
        ("tokenizer.ggml.model", gguf.STRING, "gpt2"),
        ("tokenizer.ggml.pre", gguf.STRING, "gpt-2"),
        ("tokenizer.ggml.tokens", gguf.ARRAY, (gguf.STRING, tokens)),
        ("tokenizer.ggml.token_type", gguf.ARRAY, (gguf.I32, kinds)),
        ("tokenizer.ggml.merges", gguf.ARRAY, (gguf.STRING, [f"{a} {b}" for a, b in merges])),
        ("tokenizer.ggml.bos_token_id", gguf.U32, END_OF_TEXT),
        ("tokenizer.ggml.eos_token_id", gguf.U32, END),
        ("tokenizer.ggml.padding_token_id", gguf.U32, END_OF_TEXT),
        ("tokenizer.ggml.add_bos_token", gguf.BOOL, False),
        ("tokenizer.chat_template", gguf.STRING, TEMPLATE),
    ]
    tensors = [
        (name, p.detach().numpy().astype(np.float16 if p.ndim == 2 else np.float32))
        for name, p in model.named_parameters()
    ]
    gguf.write(path, metadata, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--base", help="a model to go on from; without it a new one")
    parser.add_argument("--steps", type=int, default=2200)
    parser.add_argument("--rate", type=float, default=1.0, help="of the usual learning rates")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    with open(args.corpus, encoding="utf-8") as lines:
        chats = [json.loads(line) for line in lines]
    model = Llama(Shape())
    tokens, merges = load(args.base, model) if args.base else vocabulary(chats[:20_000], model.s.vocab)
    encoder = bpe.Encoder(tokens, merges)
    ids, weights, starts = [], [], []
    for chat in chats:
        starts.append(len(ids))
        more, weight = tokenize(chat, encoder)
        ids += more
        weights += weight
    # The last twentieth is never trained on: it measures the loss on other chats.
    cut = starts[len(starts) * 19 // 20]
    ids, weights = np.array(ids, np.uint16), np.array(weights, np.float32)
    train = ([s for s in starts if s < cut], ids[:cut], weights[:cut])
    held = ([s - cut for s in starts if s >= cut], ids[cut:], weights[cut:])
    count = sum(p.numel() for p in model.parameters())
    print(f"{len(ids)} tokens, {count} parameters", flush=True)
    fit(model, train, args.steps, args.rate, np.random.default_rng(args.seed))
    for p in model.parameters():
        if p.ndim == 2:
            p.data = p.data.half().float()
    export(args.out, model, tokens, merges)
    with torch.no_grad():
        rng = np.random.default_rng(5)
        losses = [loss_of(model, *batch(rng, *held, 256, 16)).item() for _ in range(10)]
    print(f"held-out loss {sum(losses) / len(losses):.3f}", flush=True)


if __name__ == "__main__":
    main()
