"""Chats with tools, and how thoughts and calls are spelt: the definitions as the chat template shows them, the calls, their results and the answers.

A call is the text <tool_call>{"name": ..., "arguments": ...}</tool_call>. Names of tools and parameters vary,
so that the model has to read them.
"""

import json

import words as w
from facts import SUM_QUESTIONS, cap, held_out
from tasks import random_word


# What the chat template puts before the conversation when the model shall think.
THINK = "Think first."


def with_thought(thought, answer):
    return f"<think>\n{thought}\n</think>\n{answer}"


class Use:
    """One tool and one use of it: its definition, a question, the arguments, a result and the answer."""

    def __init__(self, names, about, parameters, question, result, answer):
        """parameters: list of (names to choose from, JSON type, value)."""
        self.names, self.about, self.parameters = names, about, parameters
        self.question, self.result, self.answer = question, result, answer


NUMBER_PAIRS = [("a", "b"), ("a", "b"), ("x", "y"), ("left", "right"), ("first", "second"), ("m", "n")]


def sum_use(r):
    op, names, about, work = r.choice([
        ("plus", ["add", "add", "sum", "add_numbers", "plus"], ["Adds two numbers.", "Add two numbers"], lambda a, b: a + b),
        ("times", ["multiply", "product", "times"], ["Multiplies two numbers.", "Multiply two numbers"],
         lambda a, b: a * b),
        ("minus", ["subtract", "minus", "difference"], ["Subtracts two numbers.", "Subtract b from a"],
         lambda a, b: a - b),
    ])
    top = r.choice([10, 20, 99, 999])
    while True:
        a, b = r.randint(0, top), r.randint(0, top)
        if not held_out(a, op, b):
            break
    first, second = r.choice(NUMBER_PAIRS)
    kind = r.choice(["integer", "number", "number"])
    sign = {"plus": "+", "minus": "-", "times": "*"}[op]
    question = r.choice(SUM_QUESTIONS).format(a=a, b=b, op=op, sign=sign)
    c = work(a, b)
    return Use(names, about, [([first], kind, a), ([second], kind, b)], question, c, f"{a} {op} {b} is {c}.")


def city(r):
    return r.choice(w.CITIES) if r.random() < 0.7 else cap(random_word(r))


def weather_use(r):
    c, sky = city(r), r.choice(w.WEATHERS)
    question = r.choice(["What is the weather in {c}?", "How is the weather in {c}?", "What's the weather like in {c}?",
                         "Tell me the weather in {c}.", "Weather in {c}?", "Is it raining in {c}?"]).format(c=c)
    return Use(["get_weather", "get_weather", "weather", "current_weather", "get_current_weather"],
               ["Tells the weather of a city.", "Get the weather", "Get the current weather in a given location"],
               [(["city", "location", "place"], "string", c)], question, sky, f"It is {sky} in {c}.")


def time_use(r):
    c, clock = city(r), f"{r.randint(0, 23)}:{r.randint(0, 59):02}"
    question = r.choice(["What time is it in {c}?", "Tell me the time in {c}.", "How late is it in {c}?"]).format(c=c)
    return Use(["get_time", "time_in", "current_time"], ["Tells the time in a city.", "Get the current time"],
               [(["city", "location", "place", "zone"], "string", c)], question, clock, f"It is {clock} in {c}.")


def opposite_use(r):
    pair = r.choice(w.OPPOSITES)
    a, b = pair if r.random() < 0.5 else pair[::-1]
    question = r.choice(["What is the opposite of {a}?", "Opposite of {a}?", "Tell me the opposite of {a}."]).format(a=a)
    return Use(["opposite", "get_opposite", "find_opposite"], ["Finds the opposite of a word.", "Get the opposite"],
               [(["word", "text", "term"], "string", a)], question, b, f"The opposite of {a} is {b}.")


def colour_use(r):
    colour = r.choice(list(w.COLOURS))
    thing = r.choice(w.COLOURS[colour])
    question = r.choice(["What colour is {t}?", "What color is {t}?", "Tell me the colour of {t}."]).format(t=thing)
    return Use(["get_colour", "colour_of", "get_color"], ["Tells the colour of a thing.", "Get the color of an object"],
               [(["thing", "object", "name"], "string", thing)], question, colour, f"{cap(thing)} is {colour}.")


def message_use(r):
    name, text = r.choice(w.NAMES), r.choice(w.GREETINGS)
    question = r.choice(["Send {n} the message: {t}", "Write to {n}: {t}", "Send \"{t}\" to {n}.", "Tell {n}: {t}"])
    return Use(["send_message", "send_message", "send", "write_message"], ["Sends a message.", "Send a message to someone"],
               [(["to", "name", "recipient"], "string", name), (["text", "message", "body"], "string", text)],
               question.format(n=name, t=text), "sent", f"I have sent the message to {name}.")


def search_use(r):
    topic = r.choice(w.TOPICS) if r.random() < 0.6 else " ".join(random_word(r) for _ in range(r.randint(1, 2)))
    found = " ".join(r.choice(w.LIKES + [random_word(r)]) for _ in range(r.randint(1, 2)))
    question = r.choice(["Search for {t}.", "Search {t}.", "Look up {t}.", "Find {t}.", "Search the web for {t}."])
    return Use(["search", "web_search", "find", "lookup"], ["Searches the web.", "Search for a text", "Finds pages."],
               [(["query", "q", "text"], "string", topic)], question.format(t=topic), found, f"I found this: {found}.")


def timer_use(r):
    n = r.randint(2, 120)
    question = r.choice(["Set a timer of {n} minutes.", "Set a timer for {n} minutes.", "Start a timer: {n} minutes."])
    return Use(["set_timer", "timer", "start_timer"], ["Sets a timer.", "Start a timer"],
               [(["minutes", "time", "length"], r.choice(["integer", "number"]), n)], question.format(n=n), "ok",
               f"The timer is set to {n} minutes.")


def date_use(r):
    day = r.choice(w.DAYS)
    question = r.choice(["What day is it?", "Which day is today?", "What is today's date?", "What day is today?"])
    return Use(["get_date", "today", "get_day"], ["Tells the date.", "Get today's date"], [], question, day, f"Today is {day}.")


KINDS = [sum_use, weather_use, time_use, opposite_use, colour_use, message_use, search_use, timer_use, date_use]
USES = KINDS + [sum_use] * 4 + [weather_use] * 3


def define(r, use):
    """The definition of a use's tool and the arguments of the call."""
    name, properties, arguments = r.choice(use.names), {}, {}
    if r.random() < 0.25:
        name = f"{name}_{random_word(r)}"
    for names, kind, value in use.parameters:
        key = r.choice(names)
        properties[key] = {"type": kind}
        if r.random() < 0.2:
            properties[key]["description"] = r.choice([f"The {key}.", f"The {key} to use", cap(key)])
        arguments[key] = value
    tool = {"name": name}
    if r.random() < 0.8:
        tool["description"] = r.choice(use.about)
    tool["parameters"] = {"type": "object", "properties": properties}
    if r.random() < 0.7:
        tool["parameters"]["required"] = list(properties)
    if r.random() < 0.15:
        tool["parameters"]["additionalProperties"] = False
    return tool, arguments


def show(tools):
    """The system message that the chat template makes of tools."""
    return ["system", "".join(f"Tool: {json.dumps(tool, ensure_ascii=False)}\n" for tool in tools)]


def call(tool, arguments):
    said = json.dumps({"name": tool["name"], "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>{said}</tool_call>"


def tool_task(r):
    """One to three tools and a use of one of them: the tools, the use, the call."""
    use = r.choice(USES)(r)
    others = [make(r) for make in r.sample(KINDS, r.choice([0, 0, 1, 1, 2]))]
    tools = [define(r, other)[0] for other in others if other.about != use.about]
    tool, arguments = define(r, use)
    tools.insert(r.randint(0, len(tools)), tool)
    return tools, use, call(tool, arguments)


def tool_chat(r):
    """Tools, a question, the call, and in half of the chats its result and the answer."""
    tools, use, called = tool_task(r)
    chat = [show(tools), ["user", use.question], ["assistant", called]]
    if r.random() < 0.08:
        chat.insert(1, ["system", THINK])
        chat[-1][1] = with_thought("One of my tools fits.", called)
    if r.random() < 0.5:
        result = r.choice([json.dumps({"result": use.result}), str(use.result)])
        chat += [["tool", result], ["assistant", use.answer]]
    return chat


def idle_tools(r):
    """The system message of tools that fit no other question of the little world."""
    return show([define(r, make(r))[0] for make in r.sample([weather_use, message_use, timer_use], r.randint(1, 2))])
