#!/usr/bin/env python3
"""Writes questions with their right answers, for evaluate.ts: requests as clients send them, one JSON object a line.

The templates are those of the corpus, the draws are others. Sums of the kinds "never shown" are kept out of it.

Usage: questions.py --out FILE [--count 40] [--seed 99]
"""

import argparse
import json
import random

import facts
import tasks
from facts import FACTS, held_out
from tools import tool_task


def ask(question, **more):
    return {"messages": [{"role": "user", "content": question}], **more}


def fact_question(make):
    def draw(r):
        fact = make(r)
        return ask(fact.question), fact.full
    return draw


def unknown_question(r):
    question, answer = tasks.unknown(r)
    return ask(question), answer


def json_question(r):
    fact = r.choice(FACTS)(r)
    asked = r.choice(["Answer as JSON: {q}", "{q} Answer in JSON."]).format(q=fact.question)
    return ask(asked), json.dumps({"answer": fact.value}, ensure_ascii=False)


def json_system_question(r):
    fact = r.choice(FACTS)(r)
    system = {"role": "system", "content": "Answer in JSON."}
    request = ask(fact.question)
    return {"messages": [system, *request["messages"]]}, json.dumps({"answer": fact.value}, ensure_ascii=False)


def word_question(r):
    fact = r.choice(FACTS)(r)
    system = {"role": "system", "content": "Answer with one word."}
    return {"messages": [system, *ask(fact.question)["messages"]]}, fact.short


def late_question(r):
    before = [f for make in (facts.animal_fact, facts.sum_fact) for f in [make(r)]]
    turns = [m for f in before for m in ({"role": "user", "content": f.question},
                                         {"role": "assistant", "content": f.full})]
    fact = r.choice(FACTS)(r)
    return {"messages": [*turns, *ask(fact.question)["messages"]]}, fact.full


def thinking_question(make):
    def draw(r):
        fact = make(r)
        return ask(fact.question, chat_template_kwargs={"enable_thinking": True}), fact.full
    return draw


def tool_question(r):
    tools, use, called = tool_task(r)
    return ask(use.question, tools=[{"type": "function", "function": tool} for tool in tools]), called


def result_question(r):
    tools, use, called = tool_task(r)
    request = ask(use.question, tools=[{"type": "function", "function": tool} for tool in tools])
    said = json.loads(called.removeprefix("<tool_call>").removesuffix("</tool_call>"))
    function = {"name": said["name"], "arguments": json.dumps(said["arguments"], ensure_ascii=False)}
    request["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call-1", "content": json.dumps({"result": use.result})},
    ]
    return request, use.answer


def unseen_sum(r):
    a, b = r.choice([(a, b) for a in range(21) for b in range(21) if held_out(a, "plus", b)])
    return ask(f"What is {a} plus {b}?"), f"{a} plus {b} is {a + b}."


def unseen_large_sum(r):
    a, b = r.choice([(a, b) for a in range(21, 100) for b in range(1, 100) if held_out(a, "plus", b)])
    request = ask(f"What is {a} plus {b}?", chat_template_kwargs={"enable_thinking": True})
    return request, f"{a} plus {b} is {a + b}."


KINDS = {make.__name__.removesuffix("_fact").replace("_", " "): fact_question(make) for make in dict.fromkeys(FACTS)} | {
    "sum never shown": unseen_sum, "do not know": unknown_question, "after two turns": late_question,
    "one word": word_question, "JSON by the question": json_question, "JSON by the system prompt": json_system_question,
    "large sum, thinking": thinking_question(facts.large_sum_fact), "large sum never shown, thinking": unseen_large_sum,
    "fact, thinking": thinking_question(lambda r: r.choice(FACTS)(r)),
    "tool call": tool_question, "tool result": result_question,
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
