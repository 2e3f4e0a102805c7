"""The cells of one client: each way of asking, on each model. Prints a JSON line for each of them.

A cell is a function of a model's name. It returns when what came is right, and raises when it is not; `Cannot` says why a
client cannot do it at all.
"""

import asyncio
import inspect
import json
import os
import pathlib
import sys

BASE_URL = os.environ["OPENAI_BASE_URL"]
API_KEY = os.environ["OPENAI_API_KEY"]
QUESTION = "What is 3 plus 4?"
# A text that the model goes on with.
TEXT = f"user\n{QUESTION}\nassistant\n"
REASON_CHARS_MAX = 300


class Cannot(Exception):
    """The client cannot do this, for the reason that it carries."""


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    uses.append((a, b))
    return a + b


# One for all cells: clients keep their connections in it.
loop = asyncio.new_event_loop()
# What the tool was called with in the cell that runs.
uses: list[tuple[int, int]] = []

ADD = {
    "name": "add",
    "description": "Adds two numbers.",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}
TOOL = {"type": "function", "function": ADD}


def check_text(text):
    """A whole answer: the model knows this sum."""
    if not isinstance(text, str) or text.strip() == "":
        raise AssertionError(f"no text came: {text!r}")


def check_pieces(pieces):
    """A streamed answer: text in several pieces."""
    texts = [piece for piece in pieces if piece]
    if len(texts) < 2:
        raise AssertionError(f"the text came in {len(texts)} piece")
    check_text("".join(texts))


def check_use():
    """The tool was called with numbers."""
    if not uses or not all(isinstance(number, int) for use in uses for number in use):
        raise AssertionError(f"the tool was used with {uses!r}")


def check_call(name, arguments):
    """A call that the client has read: `arguments` as JSON text or parsed."""
    values = json.loads(arguments) if isinstance(arguments, str) else dict(arguments)
    if name != "add" or set(values) != {"a", "b"}:
        raise AssertionError(f"{name} was called with {values!r}")
    add(**values)
    check_use()


def outcome_of(cell, model):
    uses.clear()
    try:
        result = cell(model)
        if inspect.isawaitable(result):
            loop.run_until_complete(result)
    except Cannot as reason:
        return str(reason)
    except BaseException as error:
        text = " ".join(str(error).split())
        return f"fails: {type(error).__name__}: {text[:REASON_CHARS_MAX]}"
    return "ok"


def run(**cells):
    for model in os.environ["MODELS"].split():
        for way, cell in cells.items():
            outcome = outcome_of(cell, model)
            line = {"model": model, "way": way, "outcome": outcome}
            print("cell:" + json.dumps(line), flush=True)
    # Threads of a client that are still at work must not keep the program.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(f"{pathlib.Path(__file__).name} is imported by the programs of the clients")
