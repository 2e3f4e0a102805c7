"""What the programs show of the client's methods: which works, and which the server refuses by name."""

import weave

# Subject to its methods, each with "works", or with what the server does not have.
STATES = {}
PROGRAMS = []


def works(*methods):
    """The program drives these methods and checks what they did."""

    def add(program):
        for method in methods:
            note(program.__module__, method, "works")
        PROGRAMS.append(program)
        return program

    return add


def refused(subject, feature, **calls):
    """The server refuses these methods, each tried by a call, with the name of what it does not have."""

    def program(client):
        for method, call in calls.items():
            try:
                call(client)
            except Exception as error:
                check(f"{method}: {told(error)}", f"Weft does not have {feature}." in told(error), True)
            else:
                raise SystemExit(f"not ok: {method} is not refused")

    program.__module__ = subject
    program.__name__ = feature
    for method in calls:
        note(subject, method, feature)
    PROGRAMS.append(program)


def note(subject, method, state):
    STATES.setdefault(subject, {})[method] = state


def told(error):
    """All that an error says: the client puts what the server answered into its text, or keeps the answer."""
    response = getattr(error, "response", None)
    return str(error) + (response.text if response is not None else "")


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {name}: {found!r} is not {expected!r}")


@weave.op
def answer(question: str) -> dict:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"text": question.upper(), "model": "gpt-4o", "usage": usage}


def traced(client, question):
    """A call that has arrived."""
    _, call = answer.call(question)
    client.flush()
    return call
