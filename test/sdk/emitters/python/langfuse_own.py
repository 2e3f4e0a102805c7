import os

os.environ.update(
    LANGFUSE_BASE_URL=os.environ["WEFT_URL"],
    LANGFUSE_SECRET_KEY=os.environ["PROJECT_KEY"],
    LANGFUSE_PUBLIC_KEY="weft",
)

import openai_steps
from langfuse import get_client, propagate_attributes
from langfuse.openai import OpenAI
from openai_steps import CHAT, RESPONSES
from steps import CONVERSATION, USER, attempt, finish

client = get_client()
openai_steps.client = OpenAI(max_retries=0, timeout=20)
with client.start_as_current_observation(name="program", as_type="span"):
    with propagate_attributes(session_id=CONVERSATION, user_id=USER):
        for step in RESPONSES if os.environ.get("API") == "responses" else CHAT:
            attempt(step)
finish(client.shutdown)
