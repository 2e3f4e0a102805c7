"""The Weave SDK, which sends calls instead of spans."""

import os

os.environ.update(
    WANDB_BASE_URL=os.environ["WEFT_URL"],
    WF_TRACE_SERVER_URL=os.environ["WEFT_URL"] + "/traces",
    WANDB_API_KEY=os.environ["WEFT_KEY"],
    WANDB_ERROR_REPORTING="false",
    WEAVE_PRINT_CALL_LINK="false",
)

import openai
import openai_steps
import weave
from openai_steps import CHAT, RESPONSES
from steps import CONVERSATION, attempt, finish

client = weave.init(os.environ["PROJECT"])
openai_steps.client = openai.OpenAI(max_retries=0, timeout=20)


@weave.op
def program():
    for step in RESPONSES if os.environ.get("API") == "responses" else CHAT:
        attempt(step)


with weave.thread(CONVERSATION):
    program()
finish(client.finish)
