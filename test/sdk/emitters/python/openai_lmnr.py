"""Laminar, which exports by itself."""

import os

import openai
import openai_steps
from lmnr import Laminar
from openai_steps import CHAT, RESPONSES
from steps import CONVERSATION, USER, attempt, finish

address, port = os.environ["WEFT_URL"].rsplit(":", 1)
Laminar.initialize(
    project_api_key=os.environ["PROJECT_KEY"], base_url=address, http_port=int(port), force_http=True
)
openai_steps.client = openai.OpenAI(max_retries=0, timeout=20)
with Laminar.start_as_current_span("program", session_id=CONVERSATION, user_id=USER):
    for step in RESPONSES if os.environ.get("API") == "responses" else CHAT:
        attempt(step)
finish(lambda: Laminar.flush())
