#!/usr/bin/env python3
"""Writes the text of the second stage: the chats of corpus.py, and among them chats with tools and with thoughts.

The tools are four, always with the same names and parameters. A call is the text
<tool_call>{"name": ..., "arguments": ...}</tool_call>. The same seed gives the same bytes.

Usage: tool_corpus.py --out FILE [--count 60000] [--seed 8]
"""

import argparse
import json
import random

import words as w
from corpus import (FACTS, SIGNS, SUM_QUESTIONS, UNKNOWN, cap, conversation, exchange, held_out, noisy, opposite_fact,
                    random_word, sum_fact)

# What the chat template puts before the conversation when the model shall think.
THINK = "Think first."
# Names and parameters, in the order in which calls give them.
TOOLS = {"add": ["a", "b"], "get_opposite": ["word"], "get_colour": ["thing"], "get_weather": ["city"]}
# Of tools that the model cannot use.
OTHER_NAMES = ["get_time", "send_message", "search", "set_timer", "translate", "get_stock_price", "lookup", "run"]
OTHER_PARAMETERS = ["city", "text", "query", "name", "minutes", "url", "id", "a", "b", "word", "date", "unit"]


class Use:
    """A use of a tool: the question, the arguments, the result and the answer that follows from it."""

    def __init__(self, tool, question, arguments, result, answer):
        self.tool, self.question, self.result, self.answer = tool, question, result, answer
        self.arguments = dict(zip(TOOLS[tool], arguments))

    def call(self):
        said = json.dumps({"name": self.tool, "arguments": self.arguments})
        return f"<tool_call>{said}</tool_call>"


def add_use(r):
    top = r.choice([10, 20, 20, 20, 99])
    while True:
        a, b = r.randint(0, top), r.randint(0, top)
        if not held_out(a, "plus", b):
            break
    question = r.choice(SUM_QUESTIONS).format(a=a, b=b, op="plus", sign=SIGNS["plus"])
    return Use("add", question, [a, b], a + b, f"{a} plus {b} is {a + b}.")


def opposite_use(r):
    pair = r.choice(w.OPPOSITES)
    a, b = pair if r.random() < 0.5 else pair[::-1]
    question = r.choice([
        "What is the opposite of {a}?", "Opposite of {a}?", "Tell me the opposite of {a}.",
        "Which word is the opposite of {a}?",
    ]).format(a=a)
    return Use("get_opposite", question, [a], b, f"The opposite of {a} is {b}.")


def colour_use(r):
    colour = r.choice(list(w.COLOURS))
    thing = r.choice(w.COLOURS[colour])
    question = r.choice(["What {c} is {t}?", "Which {c} does {t} have?", "Tell me the {c} of {t}."])
    question = question.format(c=r.choice(["colour", "color"]), t=thing)
    return Use("get_colour", question, [thing], colour, f"{cap(thing)} is {colour}.")


def weather_use(r):
    city, sky = r.choice(w.CITIES), r.choice(w.SKIES)
    question = r.choice([
        "What is the weather in {c}?", "How is the weather in {c}?", "What is the weather like in {c}?",
        "Tell me the weather in {c}.",
    ]).format(c=city)
    return Use("get_weather", question, [city], sky, f"It is {sky} in {city}.")


# By how many words there are to copy.
USES = [add_use, add_use, opposite_use, opposite_use, opposite_use, colour_use, colour_use, weather_use]


def other_tool(r):
    name = r.choice(OTHER_NAMES) if r.random() < 0.7 else random_word(r)
    return name, r.sample(OTHER_PARAMETERS, r.randint(0, 3))


def show(tools):
    """The system message that the chat template makes of tools: a list of names and parameters."""
    return ["system", "".join(f"Tool: {name}({', '.join(keys)})\n" for name, keys in tools)]


def tool_task(r):
    """A use of a tool, and the one to four tools that are shown."""
    use = r.choice(USES)(r)
    names = {use.tool, *r.sample(list(TOOLS), r.choice([0, 0, 1, 2, 3]))}
    tools = [(name, TOOLS[name]) for name in sorted(names)]
    if r.random() < 0.2:
        tools.append(other_tool(r))
    r.shuffle(tools)
    return tools, use


def idle_task(r):
    """A question of the little world beside tools that do not fit it."""
    if r.random() < 0.5:
        question, answer = exchange(r, "plain")
        return [other_tool(r) for _ in range(r.randint(1, 2))], question, answer
    use = r.choice(USES)(r)
    tools = [(name, TOOLS[name]) for name in r.sample([t for t in TOOLS if t != use.tool], r.randint(1, 2))]
    known = use.tool != "get_weather" and (use.tool != "add" or max(use.arguments.values()) <= 20)
    return tools, use.question, use.answer if known else UNKNOWN


def with_thought(thought, answer):
    return f"<think>{thought}</think>{answer}"


def tool_chat(r):
    """Tools, a question, the call, and in half of the chats its result and the answer; or tools that do not fit."""
    if r.random() < 0.2:
        tools, question, answer = idle_task(r)
        return [show(tools), ["user", noisy(r, question)], ["assistant", answer]]
    tools, use = tool_task(r)
    chat = [show(tools), ["user", noisy(r, use.question)], ["assistant", use.call()]]
    if r.random() < 0.06:
        chat.insert(1, ["system", THINK])
        chat[-1][1] = with_thought("A tool can tell me.", use.call())
    if r.random() < 0.5:
        chat += [["tool", json.dumps({"result": use.result})], ["assistant", use.answer]]
    return chat


LINKS = {"plus": "{a} and {b} more make {c}.", "minus": "{a} less {b} leaves {c}.", "times": "{a} times {b} makes {c}."}


def thought_of(fact):
    """What the model thinks before the full answer of a sum or an opposite."""
    said = fact.full.rstrip(".").split()
    if said[0] == "The":
        return f"{said[3]} and {said[5]} are opposites."
    return LINKS[said[1]].format(a=said[0], b=said[2], c=said[4])


def think_exchange(r):
    kind = r.random()
    if kind < 0.75:
        fact = (sum_fact if kind < 0.5 else opposite_fact)(r)
        return fact.question, with_thought(thought_of(fact), fact.full)
    if kind < 0.9:
        fact = r.choice(FACTS)(r)
        known = fact.full.split()[1] in LINKS or fact.full.startswith("The opposite")
        return fact.question, with_thought(thought_of(fact) if known else "I know that.", fact.full)
    while True:
        question, answer = exchange(r, "plain")
        if answer == UNKNOWN:
            return question, with_thought("I do not know that.", answer)


def think_chat(r):
    chat = [["system", THINK]]
    for _ in range(r.choice([1, 1, 1, 2])):
        question, answer = think_exchange(r)
        chat += [["user", noisy(r, question)], ["assistant", answer]]
    return chat


def short_chat(r):
    """Sums alone, or facts in one word, so that the rest of this text does not drown them."""
    is_short = r.random() < 0.5
    chat = [["system", "Answer with one word."]] if is_short else []
    for _ in range(r.choice([1, 1, 2])):
        fact = (r.choice(FACTS) if is_short else sum_fact)(r)
        chat += [["user", noisy(r, fact.question)], ["assistant", fact.short if is_short else fact.full]]
    return chat


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=8)
    args = parser.parse_args()
    r = random.Random(args.seed)
    with open(args.out, "w", encoding="utf-8") as out:
        for _ in range(args.count):
            kind = r.random()
            make = tool_chat if kind < 0.26 else think_chat if kind < 0.36 else short_chat if kind < 0.48 else conversation
            out.write(json.dumps(make(r), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
