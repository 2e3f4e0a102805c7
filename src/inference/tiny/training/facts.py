"""Questions about the little world with their answers: sums, opposites, colours, animals, days, numbers, words.

Each has a full answer, a word, a JSON value and a thought that leads to it.
"""

import words as w


class Fact:
    """A question with a full answer, a one-word answer, a JSON value and a thought that leads to them."""

    def __init__(self, question, full, short, value=None, thought=None):
        self.question, self.full, self.short = question, full, str(short)
        self.value = short if value is None else value
        self.thought = thought or f"I know this one: {self.short}."


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
    return Fact(question, f"{a} {op} {b} is {c}.", c, thought=f"{a} {SIGNS[op]} {b} = {c}.")


def large_sum_fact(r):
    """A sum that takes a thought: tens, ones, and both together."""
    while True:
        a, b = r.randint(1, 99), r.randint(1, 99)
        if max(a, b) > 20 and not held_out(a, "plus", b):
            break
    return large_sum(a, b, r.choice(SUM_QUESTIONS).format(a=a, b=b, op="plus", sign="+"))


def large_sum(a, b, question):
    tens, ones = a // 10 * 10 + b // 10 * 10, a % 10 + b % 10
    thought = (f"{a // 10 * 10} + {b // 10 * 10} = {tens}. {a % 10} + {b % 10} = {ones}. "
               f"{tens} + {ones} = {tens + ones}.")
    return Fact(question, f"{a} plus {b} is {a + b}.", a + b, thought=thought)


def opposite_fact(r):
    a, b = r.choice(w.OPPOSITES)
    if r.random() < 0.5:
        a, b = b, a
    question = r.choice([
        "What is the opposite of {a}?", "What is the opposite of {a}?", "Opposite of {a}?",
        "Tell me the opposite of {a}.", "Which word is the opposite of {a}?",
        "Give me the opposite of {a}.", "What's the opposite of \"{a}\"?",
    ]).format(a=a)
    return Fact(question, f"The opposite of {a} is {b}.", b, thought=f"{cap(a)} and {b} are opposites.")


def colour_fact(r):
    colour = r.choice(list(w.COLOURS))
    thing = r.choice(w.COLOURS[colour])
    word = r.choice(["colour", "color"])
    if r.random() < 0.25:
        asked = r.choice([colour, r.choice(list(w.COLOURS))])
        yes = asked == colour
        full = f"Yes, {thing} is {colour}." if yes else f"No, {thing} is {colour}."
        return Fact(f"Is {thing} {asked}?", full, "yes" if yes else "no", yes,
                    thought=f"The colour of {thing} is {colour}.")
    question = r.choice([
        "What {c} is {t}?", "What {c} is {t}?", "Which {c} does {t} have?",
        "Tell me the {c} of {t}.", "What is the {c} of {t}?", "What {c} has {t}?",
    ]).format(c=word, t=thing)
    return Fact(question, f"{cap(thing)} is {colour}.", colour, thought=f"I think of {thing}. I see {colour}.")


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
    line = [here, there] if step == 1 else [there, here]
    return Fact(question, f"The {kind} {rel} {here} is {there}.", there, thought=", ".join(line) + ".")


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


def plural_fact(r):
    one, many = r.choice(w.PLURALS)
    question = r.choice(["What is the plural of {o}?", "Plural of {o}?", "Tell me the plural of {o}.",
                         "One {o}, two ...?", "What do I call two of {o}?"]).format(o=one)
    return Fact(question, f"The plural of {one} is {many}.", many, thought=f"One {one}, two {many}.")


def kind_fact(r):
    group = r.choice(list(w.KINDS))
    name = r.choice(w.GROUPS[group])
    kind = w.KINDS[group]
    one = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    if r.random() < 0.3:
        asked = r.choice([kind, r.choice(list(w.KINDS.values()))])
        article = "an" if asked[0] in "aeiou" else "a"
        says = "Yes" if asked == kind else "No"
        return Fact(f"Is {one} {article} {asked}?", f"{says}, {one} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}.",
                    says.lower(), asked == kind, thought=f"{cap(name)} is in my list of {group}.")
    question = r.choice(["What is {o}?", "What kind of thing is {o}?", "What sort of thing is {o}?"]).format(o=one)
    full = f"{cap(one)} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}."
    return Fact(question, full, kind, thought=f"{cap(name)} is in my list of {group}.")


def spelling_fact(r):
    word = r.choice(r.choice(list(w.GROUPS.values())))
    if r.random() < 0.5:
        question = r.choice(["Which letter does {x} begin with?", "What is the first letter of {x}?",
                             "What letter does {x} start with?"]).format(x=word)
        return Fact(question, f"The word {word} begins with {word[0]}.", word[0], thought="-".join(word) + ".")
    letters = "-".join(word)
    question = r.choice(["Spell {x}.", "How do you spell {x}?", "Please spell {x}."]).format(x=word)
    return Fact(question, f"{letters}.", letters, thought=f"The word is {word}.")


FACTS = [sum_fact] * 11 + [opposite_fact] * 2 + [colour_fact] * 3 + [animal_fact] * 3 + \
        [calendar_fact] * 2 + [number_fact] * 3 + [emoji_fact, plural_fact, kind_fact, spelling_fact]
