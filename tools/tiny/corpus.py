#!/usr/bin/env python3
"""Writes the training text of the tiny model: chats about a very small world.

One JSON list of [role, text] pairs per line. The same seed gives the same bytes. All text comes from
this folder; no other source is read.

Usage: corpus.py --out FILE [--count 70000] [--seed 7]
"""

import argparse
import json
import random

import words as w

UNKNOWN = "I am a very small model and do not know that."
WHO = "I am a very small language model that is built into this server. I am only meant for testing."
CAN = ("I can do small sums, count, name opposites, colours and days, "
       "answer in short JSON and tell very short stories.")


class Fact:
    """A question with a full answer, a one-word answer and a JSON value."""

    def __init__(self, question, full, short, value=None):
        self.question, self.full, self.short = question, full, str(short)
        self.value = short if value is None else value


def cap(text):
    return text[0].upper() + text[1:]


def held_out(a, op, b):
    """Sums that never occur in the corpus, so that the training script can ask for them."""
    return (a >= 10 or b >= 10) and (a * 31 + b * 17 + ord(op[0])) % 29 == 0


SUM_QUESTIONS = [
    "What is {a} {op} {b}?", "What is {a} {op} {b}?", "What is {a} {sign} {b}?", "{a} {sign} {b} = ?",
    "How much is {a} {op} {b}?", "Can you tell me what {a} {op} {b} is?", "Compute {a} {sign} {b}.",
    "{a} {op} {b}?", "What's {a} {sign} {b}?", "Please work out {a} {op} {b}.", "{a}{sign}{b}",
    "Calculate {a} {op} {b}.",
]
SIGNS = {"plus": "+", "minus": "-", "times": "*"}


def sum_fact(r):
    op = r.choice(["plus", "plus", "plus", "minus", "minus", "times"])
    top = 10 if op == "times" or r.random() < 0.6 else 20
    while True:
        a, b = r.randint(0, top), r.randint(0, top)
        if op == "minus" and b > a:
            a, b = b, a
        if not held_out(a, op, b):
            break
    c = a + b if op == "plus" else a - b if op == "minus" else a * b
    question = r.choice(SUM_QUESTIONS).format(a=a, b=b, op=op, sign=SIGNS[op])
    return Fact(question, f"{a} {op} {b} is {c}.", c)


def opposite_fact(r):
    a, b = r.choice(w.OPPOSITES)
    if r.random() < 0.5:
        a, b = b, a
    question = r.choice([
        "What is the opposite of {a}?", "What is the opposite of {a}?", "Opposite of {a}?",
        "Tell me the opposite of {a}.", "Which word is the opposite of {a}?",
        "Give me the opposite of {a}.", "What's the opposite of \"{a}\"?",
    ]).format(a=a)
    return Fact(question, f"The opposite of {a} is {b}.", b)


def colour_fact(r):
    colour = r.choice(list(w.COLOURS))
    thing = r.choice(w.COLOURS[colour])
    word = r.choice(["colour", "color"])
    if r.random() < 0.25:
        asked = r.choice([colour, r.choice(list(w.COLOURS))])
        yes = asked == colour
        full = f"Yes, {thing} is {colour}." if yes else f"No, {thing} is {colour}."
        return Fact(f"Is {thing} {asked}?", full, "yes" if yes else "no", yes)
    question = r.choice([
        "What {c} is {t}?", "What {c} is {t}?", "Which {c} does {t} have?",
        "Tell me the {c} of {t}.", "What is the {c} of {t}?", "What {c} has {t}?",
    ]).format(c=word, t=thing)
    return Fact(question, f"{cap(thing)} is {colour}.", colour)


def animal_fact(r):
    name, article, sound, legs, home = r.choice(w.ANIMALS)
    one = f"{article} {name}"
    kind = r.randrange(3)
    if kind == 0:
        question = r.choice([f"What does {one} say?", f"What sound does {one} make?",
                             f"Which sound does {one} make?"])
        return Fact(question, f"{cap(one)} says {sound}.", sound)
    if kind == 1:
        question = r.choice([f"How many legs does {one} have?", f"How many legs has {one}?"])
        return Fact(question, f"{cap(one)} has {legs} legs.", legs)
    question = r.choice([f"Where does {one} live?", f"Where can I find {one}?",
                         f"What is the home of {one}?"])
    return Fact(question, f"{cap(one)} lives {home}.", home)


def calendar_fact(r):
    kind, names = r.choice([("day", w.DAYS), ("day", w.DAYS), ("month", w.MONTHS)])
    i, step = r.randrange(len(names)), r.choice([1, -1])
    here, there = names[i], names[(i + step) % len(names)]
    rel = "after" if step == 1 else "before"
    question = r.choice([
        "Which {k} comes {rel} {h}?", "What {k} comes {rel} {h}?", "What is the {k} {rel} {h}?",
        "Which {k} is {rel} {h}?",
    ]).format(k=kind, rel=rel, h=here)
    return Fact(question, f"The {kind} {rel} {here} is {there}.", there)


def number_fact(r):
    kind = r.randrange(3)
    n = r.randint(1, 30)
    if r.random() < 0.15:
        return Fact(*r.choice(w.COUNTS))
    if kind == 0:
        question = r.choice([f"Which number comes after {n}?", f"What comes after {n}?"])
        return Fact(question, f"After {n} comes {n + 1}.", n + 1)
    if kind == 1:
        question = r.choice([f"Which number comes before {n}?", f"What comes before {n}?"])
        return Fact(question, f"Before {n} comes {n - 1}.", n - 1)
    a, b = r.sample(range(0, 21), 2)
    word = r.choice(["bigger", "smaller"])
    best = max(a, b) if word == "bigger" else min(a, b)
    other = a + b - best
    question = r.choice([f"Which number is {word}, {a} or {b}?", f"Which is {word}, {a} or {b}?"])
    return Fact(question, f"{best} is {word} than {other}.", best)


def emoji_fact(r):
    name = r.choice(list(w.EMOJI))
    question = r.choice([f"Show me a {name} emoji.", f"Send me the emoji of a {name}.",
                         f"Which emoji is a {name}?"])
    return Fact(question, f"Here you are: {w.EMOJI[name]}", w.EMOJI[name])


FACTS = [sum_fact] * 10 + [opposite_fact] * 2 + [colour_fact] * 3 + [animal_fact] * 2 + \
        [calendar_fact] * 2 + [number_fact] * 3 + [emoji_fact]


def counting(r):
    kind = r.randrange(4)
    if kind == 0:
        b = r.randint(2, 20)
        a = 1 if r.random() < 0.7 else r.randint(1, b - 1)
        question = r.choice([f"Count from {a} to {b}.", f"Please count from {a} to {b}.",
                             f"Count to {b} from {a}."])
        if a == 1 and r.random() < 0.5:
            question = r.choice([f"Count to {b}.", f"Can you count to {b}?"])
        return question, ", ".join(str(i) for i in range(a, b + 1)) + "."
    if kind == 1:
        a = r.randint(2, 10)
        return f"Count down from {a}.", ", ".join(str(i) for i in range(a, -1, -1)) + "."
    if kind == 2:
        name, items = r.choice([("days of the week", w.DAYS), ("months of the year", w.MONTHS)])
        question = r.choice([f"What are the {name}?", f"Name the {name}.", f"List the {name}.",
                             f"Tell me the {name}."])
        return question, f"The {name} are " + ", ".join(items[:-1]) + f" and {items[-1]}."
    k = r.randint(2, 5)
    group = r.choice(list(w.GROUPS))
    number = ["two", "three", "four", "five"][k - 2]
    question = r.choice([f"Name {number} {group}.", f"List {number} {group}.",
                         f"Give me {number} {group}.", f"Tell me {number} {group}."])
    return question, ", ".join(r.sample(w.GROUPS[group], k)) + "."


def json_task(r):
    kind = r.randrange(5)
    if kind == 0:
        f = r.choice(FACTS)(r)
        question = r.choice(["{q} Answer in JSON.", "Answer in JSON: {q}", "{q} Reply with JSON only.",
                             "In JSON, please: {q}"]).format(q=f.question)
        return question, json.dumps({"answer": f.value}, ensure_ascii=False)
    name, age = r.choice(w.NAMES), r.randint(1, 99)
    if kind == 1:
        question = r.choice([f"{name} is {age} years old. Write that as JSON.",
                             f"Write as JSON: {name} is {age} years old.",
                             f"Make JSON of this: {name}, {age} years old."])
        return question, json.dumps({"name": name, "age": age})
    if kind == 2:
        question = r.choice(["Give me a JSON object with a name and an age.",
                             "Write a JSON object of a person.", "Make a JSON object with name and age."])
        return question, json.dumps({"name": name, "age": age})
    group = r.choice(list(w.GROUPS))
    if kind == 3:
        question = r.choice([f"Give me a JSON list of {group}.", f"Write a JSON array of {group}.",
                             f"List three {group} as JSON."])
        return question, json.dumps(r.sample(w.GROUPS[group], 3))
    animal = r.choice(w.ANIMALS)
    question = r.choice([f"Describe {animal[1]} {animal[0]} as JSON.",
                         f"Write JSON about {animal[1]} {animal[0]}."])
    return question, json.dumps({"animal": animal[0], "legs": animal[3], "sound": animal[2]})


def story(r):
    animal = r.choice(w.ANIMALS)
    name, one = animal[0], f"{animal[1]} {animal[0]}"
    question = r.choice([
        f"Tell me a story about {one}.", f"Tell me a short story about {one}.",
        f"Write a story about {one}.", f"Tell a story with {one}.", f"Can you tell me a story about {one}?",
    ])
    if r.random() < 0.15:
        question = r.choice(["Tell me a story.", "Tell me a short story.", "Tell me a story, please."])
    size, mood, friend = r.choice(w.SIZES), r.choice(w.MOODS), r.choice(w.NAMES)
    place, goal = r.sample(w.PLACES, 2)
    thing = r.choice(w.THINGS)
    first = r.choice(["A", "Once upon a time, a"])
    article = "n" if size[0] in "aeiou" else ""
    text = f"{first}{article} {size} {name} lived by {place}. "
    text += r.choice([f"{r.choice(w.WEATHER)} and the {name} was {mood}. ",
                      f"One day, the {name} felt {mood}. ", f"The {name} was often {mood}. "])
    text += r.choice([
        f"It walked to {goal} and found {thing}. ",
        f"In the evening, {friend} came to {place} with {thing}. ",
        f"Then it met {friend}, who had lost {thing}. ",
    ])
    text += r.choice([
        f"{friend} laughed and they shared some bread. ",
        f"The {name} gave it to {friend}, and {friend} said thank you. ",
        f"\"Let us go home,\" said {friend}. ",
        f"They looked at {thing} together for a long time. ",
    ])
    text += r.choice([
        f"From that day on, the {name} and {friend} were friends.",
        f"The {name} was very happy and slept well that night.",
        "And so the day ended well.",
        f"After that, the {name} was never {mood} again.",
    ])
    return question, text


def small_talk(r):
    name = r.choice(w.NAMES)
    return r.choice([
        lambda: (r.choice(["Hello!", "Hello", "Hi", "Hi!", "Hey", "Hello there!", "Good day!", "hi there"]),
                 r.choice(["Hello! How can I help you?", "Hello! What would you like to know?"])),
        lambda: (lambda p: (f"Good {p}!", f"Good {p}! How can I help you?"))(
            r.choice(["morning", "evening", "afternoon"])),
        lambda: (r.choice(["How are you?", "How are you today?", "How do you do?", "How is it going?",
                           "Hello, how are you?", "Hi, how are you?", "hello how are you"]),
                 r.choice(["I am fine, thank you. How are you?", "I am well, thank you."])),
        lambda: (r.choice(["Thank you!", "Thanks", "Thank you very much.", "Thanks a lot!", "Thanks!"]),
                 r.choice(["You are welcome!", "You are welcome. Is there anything else?"])),
        lambda: (r.choice(["Goodbye!", "Bye", "Bye!", "See you later!", "Good night!"]),
                 r.choice(["Goodbye! Have a nice day.", "Goodbye!"])),
        lambda: (r.choice(["Who are you?", "Who are you?", "What are you?", "Tell me about yourself.", "Who am I talking to?",
                           "Are you a person?", "Are you a human?", "Which model are you?", "Are you ChatGPT?",
                           "Introduce yourself."]), WHO),
        lambda: (r.choice(["What can you do?", "How can you help me?", "What do you know?",
                           "What are you good at?", "Help"]), CAN),
        lambda: (r.choice(["What is your name?", "Do you have a name?", "What are you called?"]),
                 "My name is Tiny."),
        lambda: (r.choice(["What is your favourite colour?", "What do you like?", "What is your favorite color?"]),
                 "I am only a small model, but I like blue."),
        lambda: (f"My name is {name}.", r.choice([f"Nice to meet you, {name}!", f"Hello, {name}!"])),
        lambda: (r.choice(["Are you clever?", "Are you smart?", "Are you useful?"]),
                 "Not very. I am a very small model for tests."),
        lambda: (r.choice(["You are nice.", "Good job!", "Well done!", "That is right.", "Great!", "Correct!"]),
                 "Thank you, that is kind of you."),
        lambda: (r.choice(["That is wrong.", "No, that is not right.", "You are wrong."]),
                 "I am sorry. I am a very small model and make mistakes."),
        lambda: (r.choice(["OK", "Okay.", "I see.", "Yes", "No", "Fine."]),
                 r.choice(["Good. What would you like to know?", "All right. Is there anything else?"])),
        lambda: (r.choice(["Sorry", "I am sorry.", "Excuse me."]), "No problem!"),
        lambda: (r.choice(["Please say hello.", "Say hello.", "Say hello!", "Just say hello.", "Say hi."]), "Hello!"),
        lambda: (r.choice(["This is a test.", "test", "Test", "Testing", "ping", "Are you there?"]),
                 "The test works. I am here."),
    ])()


def random_word(r):
    return "".join(r.choice("bdfgklmnprstvwz") + r.choice("aeiou") + r.choice(["", "", "n", "r", "s", "l"])
                   for _ in range(r.randint(1, 3)))


def repeat(r):
    items = [r.choice([r.choice(w.NAMES), r.choice(w.LIKES), str(r.randint(0, 99))])
             for _ in range(r.randint(1, 3))]
    text = " ".join(items)
    question = r.choice([f"Repeat: {text}", f"Say: {text}", f"Repeat after me: {text}", f"Please say: {text}"])
    return question, text


def unknown(r):
    def topic():
        return r.choice(w.TOPICS) if r.random() < 0.6 else random_word(r)

    kind = r.random()
    if kind < 0.30:
        question = r.choice(w.EVERYDAY_QUESTIONS).format(
            **{key: r.choice(words) for key, words in w.EVERYDAY.items()})
    elif kind < 0.62:
        question = r.choice(w.UNKNOWN_QUESTIONS).format(t=topic(), u=topic())
    elif kind < 0.72:
        x = random_word(r)
        question = r.choice([f"What is the opposite of {x}?", f"What colour is {x}?", f"What colour is a {x}?",
                             f"What does a {x} say?", f"Where does a {x} live?",
                             f"Which day comes after {x}?"])
    elif kind < 0.82:
        a, b = r.choice([21, 100, 1000]) * r.randint(1, 9) + r.randint(0, 99), r.randint(21, 9999)
        b = r.choice([b, b % 900 + 100, 100 * r.randint(1, 9)])
        question = r.choice([f"What is {a} plus {b}?", f"What is {a} * {b}?", f"{a} times {b}?",
                             f"What is {a} divided by {b}?", f"What is {a} minus {b}?", f"sqrt({a})"])
    elif kind < 0.92:
        question = " ".join(r.choice([random_word(r), r.choice(w.TOPICS), r.choice(["the", "of", "with", "why", "and"])])
                            for _ in range(r.randint(3, 12))) + r.choice(["?", ".", "", "!"])
        question = cap(question)
    else:
        question = r.choice([
            "Wie geht es dir?", "Bonjour, comment allez-vous ?", "¿Qué hora es?", "Ciao, come stai?",
            "Привет!", "你好", "こんにちは", "🎉🎉🎉", "???", "...", "def f(x): return x", "SELECT * FROM t;",
            "const a = 1;", "<html></html>", "{\"a\": 1}", "asdf", "qwertz", "What is today's date?",
            "What time is it?", "Will it rain tomorrow?", "Who won the game?", "Open the file.",
        ])
    return question, UNKNOWN


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
    table = [(0.66, counting), (0.73, json_task), (0.80, story), (0.87, small_talk), (0.90, repeat), (1.01, unknown)]
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


def conversation(r):
    """One chat: mostly one question, sometimes many turns, sometimes with a system prompt."""
    kind = r.random()
    if kind < 0.07:
        return memory(r)
    if kind < 0.09:
        return named(r)
    if kind < 0.10:
        return tool_result(r)
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
    turns = 1 if r.random() < 0.6 else r.randint(2, 5) if r.random() < 0.93 else r.randint(6, 30)
    for _ in range(turns):
        question, answer = exchange(r, style)
        chat += [["user", noisy(r, question)], ["assistant", answer]]
    return chat


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, default=70_000)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    r = random.Random(args.seed)
    with open(args.out, "w", encoding="utf-8") as out:
        for _ in range(args.count):
            out.write(json.dumps(conversation(r), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
