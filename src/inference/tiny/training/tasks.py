"""What is asked of the model beside facts: counting, JSON, stories, small talk, repeating, and what it does not know."""

import json

import words as w
from facts import FACTS, cap

UNKNOWN = "I am a very small model and do not know that."
WHO = "I am a very small language model that is built into this server. I am only meant for testing."
CAN = ("I can do small sums, count, name opposites, colours and days, "
       "answer in short JSON, call tools and tell very short stories.")
SENTENCE = "I answer from a few templates. Whatever is not in them, I do not know."


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
    kind = r.choice([0, 0, 0, 1, 2, 3, 4, 5])
    if kind == 0:
        f = r.choice(FACTS)(r)
        question = r.choice(["{q} Answer in JSON.", "Answer in JSON: {q}", "{q} Reply with JSON only.", "{q} Answer as JSON.",
                             "In JSON, please: {q}", "Answer as JSON: {q}", "Answer as JSON: {q}"]).format(q=f.question)
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
    if kind == 5:
        a, b = r.randint(0, 10), r.randint(0, 10)
        question = r.choice([f"Add {a} and {b}. Answer as JSON with a, b and sum.",
                             f"Add {a} and {b} and write it as JSON.", f"Write {a} + {b} as JSON with the sum."])
        return question, json.dumps({"a": a, "b": b, "sum": a + b})
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
        lambda: (r.choice(["How do you work?", "How were you trained?", "Where do your answers come from?",
                           "What do you not know?", "Can I trust you?", "Do you know everything?"]), SENTENCE),
        lambda: (r.choice(["Can you call tools?", "Can you use tools?", "Do you know how to call a tool?"]),
                 "Yes, if you give me tools that I understand. I write the call as text."),
        lambda: (r.choice(["Can you think?", "Do you think?", "Can you reason?", "Are you thinking?"]),
                 "Hardly. I write a short thought when I am told to think first."),
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
    items = [r.choice([r.choice(w.NAMES), r.choice(w.LIKES), str(r.randint(0, 999)), random_word(r)])
             for _ in range(r.randint(1, 8))]
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
        a = r.choice([r.randint(21, 99), r.choice([100, 1000]) * r.randint(1, 9) + r.randint(0, 99)])
        b = r.choice([r.randint(0, 99), r.randint(100, 9999), 100 * r.randint(1, 9)])
        a, b = r.choice([(a, b), (a, b), (b, a)])
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
