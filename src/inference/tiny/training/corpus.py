#!/usr/bin/env python3
"""Writes the training text of the tiny model: chats about a very small world.

One JSON list of [role, text] pairs per line. The same seed gives the same bytes. All text comes from
this folder; no other source is read.

Usage: corpus.py --out FILE [--count 80000] [--seed 7]
"""

import argparse
import json
import random

import words as w
from facts import FACTS, large_sum_fact
from tasks import counting, json_task, repeat, small_talk, story, unknown
from tools import THINK, idle_tools, tool_chat, with_thought

SYSTEMS = [
    "You are a helpful assistant.", "You are a friendly assistant.", "You are a small test model.",
    "Be short and polite.", "Answer truthfully.", "You are an assistant. Help the user.", "Be kind.",
]


def exchange(r, style):
    """One question and its answer in the style that the system prompt asks for."""
    if style in ("word", "json"):
        if r.random() < 0.12:
            question, answer = unknown(r)
            return question, answer if style == "word" else '{"answer": null}'
        f = r.choice(FACTS)(r)
        answer = f.short if style == "word" else json.dumps({"answer": f.value}, ensure_ascii=False)
        return f.question, answer
    kind = r.random()
    if kind < 0.56:
        f = r.choice(FACTS)(r)
        return f.question, f.full
    table = [(0.65, counting), (0.73, json_task), (0.80, story), (0.85, small_talk), (0.90, repeat), (1.01, unknown)]
    return next(make(r) for limit, make in table if kind < limit)


def noisy(r, question):
    """Small variations of how people type."""
    x = r.random()
    if x < 0.06:
        return question[0].lower() + question[1:]
    if x < 0.10 and question[-1] in "?.":
        return question[:-1]
    if x < 0.13:
        return r.choice(["Hi! ", "Hello, ", "Please: ", "Ok. "]) + question
    if x < 0.15:
        return question.lower()
    return question


def memory(r):
    """Turns about something that the user said before, with other turns between."""
    name, like = r.choice(w.NAMES), r.choice(w.LIKES)
    first, ask, answer = r.choice([
        (f"My name is {name}.", "What is my name?", f"Your name is {name}."),
        (f"Hello, I am {name}.", "Who am I?", f"You are {name}."),
        (f"I like {like}.", "What do I like?", f"You like {like}."),
    ])
    reply = f"That is nice. You like {like}." if "like" in first else f"Nice to meet you, {name}!"
    chat = [["user", first], ["assistant", reply]]
    for _ in range(r.choice([0, 0, 1, 2])):
        question, text = exchange(r, "plain")
        chat += [["user", question], ["assistant", text]]
    return chat + [["user", ask], ["assistant", answer]]


def named(r):
    """A system prompt that gives the model a name."""
    name = r.choice(w.NAMES)
    return [["system", r.choice([f"Your name is {name}.", f"You are {name}."])],
            ["user", r.choice(["What is your name?", "What are you called?"])],
            ["assistant", f"My name is {name}."]]


def tool_result(r):
    f = r.choice(FACTS)(r)
    return [["user", f.question], ["tool", json.dumps({"result": f.value}, ensure_ascii=False)],
            ["assistant", f.full]]


THOUGHTS = [
    (counting, "I write them down in their order."), (json_task, "I need a value in JSON."),
    (story, "I need an animal, a place and a friend."), (small_talk, "This is small talk."),
    (repeat, "I say the same again."), (unknown, "I look for it in my little world. It is not there."),
]


def think_exchange(r):
    """A question and an answer with a thought before it. Large sums are known only by thinking."""
    kind = r.random()
    if kind < 0.75:
        f = (large_sum_fact if kind < 0.35 else r.choice(FACTS))(r)
        return f.question, with_thought(f.thought, f.full)
    make, thought = r.choice(THOUGHTS)
    question, answer = make(r)
    return question, with_thought(thought, answer)


def thinking(r):
    system = THINK if r.random() < 0.8 else r.choice(["Think before you answer.", "Think, then answer."])
    chat = [["system", system]]
    if r.random() < 0.15:
        chat.append(["system", r.choice(SYSTEMS)])
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        question, answer = think_exchange(r)
        chat += [["user", noisy(r, question)], ["assistant", answer]]
    return chat


def conversation(r):
    """One chat: mostly one question, sometimes many turns, sometimes with a system prompt, tools or a thought."""
    kind = r.random()
    if kind < 0.06:
        return memory(r)
    if kind < 0.08:
        return named(r)
    if kind < 0.09:
        return tool_result(r)
    if kind < 0.18:
        return tool_chat(r)
    if kind < 0.27:
        return thinking(r)
    style, chat = "plain", []
    x = r.random()
    if x < 0.06:
        style = "word"
        chat.append(["system", r.choice(["Answer with one word.", "Answer in one word.", "Use one word only."])])
    elif x < 0.12:
        style = "json"
        chat.append(["system", r.choice(["Answer in JSON.", "Always answer in JSON.", "Reply with JSON only."])])
    elif x < 0.34:
        chat.append(["system", r.choice(SYSTEMS)])
    elif x < 0.37:
        chat.append(idle_tools(r))
    turns = 1 if r.random() < 0.6 else r.randint(2, 5) if r.random() < 0.93 else r.randint(6, 30)
    for _ in range(turns):
        question, answer = exchange(r, style)
        chat += [["user", noisy(r, question)], ["assistant", answer]]
    return chat


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=80_000)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    r = random.Random(args.seed)
    with open(args.out, "w", encoding="utf-8") as out:
        for _ in range(args.count):
            out.write(json.dumps(conversation(r), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
