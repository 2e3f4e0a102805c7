import logfire
from agents_steps import STEPS, prepare
from steps import attempt, finish

prepare()
logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
logfire.instrument_openai_agents()
with logfire.span("program"):
    for step in STEPS:
        attempt(step)
finish(lambda: logfire.force_flush())
