#!/usr/bin/env python3
"""Writes questions with their right answers, for evaluate.ts: requests as clients send them, one JSON object a line.

The templates are those of the corpus, the draws are others. Sums of the kind "never shown" are kept out of it.

Usage: questions.py --out FILE [--count 40] [--seed 99]
"""

import argparse
import json
import random

import corpus
from corpus import FACTS, held_out
from tool_corpus import idle_task, thought_of, tool_task


def ask(question, before=(), **more):
    return {"messages": [*before, {"role": "user", "content": question}], **more}


def fact_question(make):
    def draw(r):
        fact = make(r)
        return ask(fact.question), fact.full
    return draw


def unknown_question(r):
    question, answer = corpus.unknown(r)
    return ask(question), answer


def json_question(r):
    fact = r.choice(FACTS)(r)
    asked = r.choice(["Answer in JSON: {q}", "{q} Answer in JSON."]).format(q=fact.question)
    return ask(asked), json.dumps({"answer": fact.value}, ensure_ascii=False)


def json_system_question(r):
    fact = r.choice(FACTS)(r)
    system = {"role": "system", "content": "Answer in JSON."}
    return ask(fact.question, [system]), json.dumps({"answer": fact.value}, ensure_ascii=False)


def word_question(r):
    fact = r.choice(FACTS)(r)
    return ask(fact.question, [{"role": "system", "content": "Answer with one word."}]), fact.short


def late_question(r):
    before = []
    for make in (corpus.animal_fact, corpus.sum_fact):
        fact = make(r)
        before += [{"role": "user", "content": fact.question}, {"role": "assistant", "content": fact.full}]
    fact = r.choice(FACTS)(r)
    return ask(fact.question, before), fact.full


def unseen_sum(r):
    a, b = r.choice([(a, b) for a in range(21) for b in range(21) if held_out(a, "plus", b)])
    return ask(f"What is {a} plus {b}?"), f"{a} plus {b} is {a + b}."


def thinking_question(make):
    """A fact with thinking: the answer, and the thought that leads to it."""
    def draw(r):
        fact = make(r)
        expected = f"<think>{thought_of(fact)}</think>{fact.full}"
        return ask(fact.question, chat_template_kwargs={"enable_thinking": True}), expected
    return draw


def defined(tools):
    """Tools as a client defines them."""
    def define(name, keys):
        kinds = {key: {"type": "integer" if name == "add" else "string"} for key in keys}
        parameters = {"type": "object", "properties": kinds, "required": list(keys)}
        return {"type": "function", "function": {"name": name, "parameters": parameters}}
    return [define(name, keys) for name, keys in tools]


def tool_question(r):
    tools, use = tool_task(r)
    return ask(use.question, tools=defined(tools)), use.call()


def idle_question(r):
    tools, question, answer = idle_task(r)
    while '"' in answer or len(answer) > 60:
        tools, question, answer = idle_task(r)
    return ask(question, tools=defined(tools)), answer


def result_question(r):
    tools, use = tool_task(r)
    function = {"name": use.tool, "arguments": json.dumps(use.arguments)}
    request = ask(use.question, tools=defined(tools))
    request["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call-1", "content": json.dumps({"result": use.result})},
    ]
    return request, use.answer


KINDS = {make.__name__.removesuffix("_fact"): fact_question(make) for make in dict.fromkeys(FACTS)} | {
    "sum never shown": unseen_sum, "do not know": unknown_question, "after two turns": late_question,
    "one word": word_question, "JSON by the question": json_question, "JSON by the system prompt": json_system_question,
    "sum, thinking": thinking_question(corpus.sum_fact), "opposite, thinking": thinking_question(corpus.opposite_fact),
    "tool call": tool_question, "tool result": result_question, "tools that do not fit": idle_question,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=99)
    args = parser.parse_args()
    with open(args.out, "w", encoding="utf-8") as out:
        for kind, draw in KINDS.items():
            r = random.Random(f"{args.seed} {kind}")
            for _ in range(args.count):
                request, expected = draw(r)
                out.write(json.dumps({"kind": kind, "request": request, "expected": expected}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
