"""Drives every public method of WeaveClient against a real server, started by run-python.sh.

The list of methods is the package's own; each must be shown by a program to work, or to be refused by name,
and test/sdk/weave-methods.json, from which docs/sdks.md is made, must say the same.
"""

import inspect
import json
import os
import pathlib
import time

import agents
import annotation
import calls
import costs
import evaluations
import feedback
import models
import objects
import shown
import weave
from weave.trace.weave_client import WeaveClient

LIST = pathlib.Path("test/sdk/weave-methods.json")
MODULES = [agents, annotation, calls, costs, evaluations, feedback, models, objects]


def main():
    public = {name for name, _ in inspect.getmembers(WeaveClient) if not name.startswith("_")}
    listed = {method for states in shown.STATES.values() for method in states}
    shown.check("methods without a program", sorted(public - listed), [])
    shown.check("programs without a method", sorted(listed - public), [])
    shown.check("the list", json.loads(LIST.read_text())["python"], shown.STATES)

    client = weave.init(os.environ["SDK_PROJECT"])
    for program in shown.PROGRAMS:
        began = time.monotonic()
        program(client)
        took = time.monotonic() - began
        print(f"ok: {program.__module__}: {program.__name__} ({took:.1f} s)")
    client.finish()
    print(f"ok: {len(public)} methods of the client")


if __name__ == "__main__":
    main()
