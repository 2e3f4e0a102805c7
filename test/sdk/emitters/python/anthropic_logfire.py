import anthropic
import anthropic_steps
import logfire
from anthropic_steps import STEPS
from steps import attempt, finish

logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
anthropic_steps.client = anthropic.Anthropic(max_retries=0, timeout=20)
logfire.instrument_anthropic(anthropic_steps.client)
with logfire.span("program"):
    for step in STEPS:
        attempt(step)
finish(lambda: logfire.force_flush())
