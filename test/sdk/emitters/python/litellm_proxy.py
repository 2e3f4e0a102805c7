"""LiteLLM's proxy: the server exports, and its client is OpenAI's own. `WITH` names its callback."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

from steps import CONVERSATION, PLAIN, PROVIDER, USER, chat_steps, finish, open_providers, response_steps, run_steps

CALLBACK = os.environ.get("WITH", "otel")
HERE = os.environ["TMPDIR"]
# Longer than the proxy takes to start on a busy machine.
START_S = 300
KEY = "sk-proxy"
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]
URL = f"http://127.0.0.1:{PORT}"
# "broken" has a deployment that cannot be reached, and falls back to the one that works; "alias" names another model.
CONFIG = f"""
model_list:
  - model_name: gpt-5
    litellm_params: {{model: openai/gpt-5, api_base: {PROVIDER}/v1, api_key: none}}
  - model_name: text-embedding-3-small
    litellm_params: {{model: openai/text-embedding-3-small, api_base: {PROVIDER}/v1, api_key: none}}
  - model_name: broken
    litellm_params: {{model: openai/gpt-5, api_base: http://127.0.0.1:9, api_key: none}}
  - model_name: alias
    litellm_params: {{model: openai/gpt-5, api_base: {PROVIDER}/v1, api_key: none}}
litellm_settings:
  callbacks: ["{CALLBACK}"]
  num_retries: 0
router_settings:
  num_retries: 0
  fallbacks: [{{"broken": ["gpt-5"]}}]
general_settings:
  master_key: {KEY}
"""


def start():
    path = os.path.join(HERE, f"proxy-{PORT}.yaml")
    with open(path, "w") as file:
        file.write(CONFIG)
    weft, project = os.environ["WEFT_URL"], os.environ["PROJECT"]
    settings = {
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OTEL_EXPORTER": "otlp_http",
        "OTEL_ENDPOINT": weft,
        "OTEL_HEADERS": os.environ["OTEL_EXPORTER_OTLP_HEADERS"].replace("%20", " "),
        "LANGFUSE_PUBLIC_KEY": project,
        "LANGFUSE_SECRET_KEY": os.environ["WEFT_KEY"],
        "LANGFUSE_OTEL_HOST": weft,
        "LANGFUSE_HOST": weft,
    }
    os.environ.pop("OPENAI_BASE_URL")
    command = [os.path.join(os.path.dirname(sys.executable), "litellm"), "--config", path, "--host", "127.0.0.1", "--port", str(PORT)]
    proxy = subprocess.Popen(command, env={**os.environ, **settings})
    until = time.time() + START_S
    while time.time() < until:
        if proxy.poll() is not None:
            break
        try:
            urllib.request.urlopen(URL + "/health/liveliness", timeout=2)
            return proxy
        except OSError:
            time.sleep(0.3)
    proxy.terminate()
    raise SystemExit("the proxy did not start")


PROXY = start()
provider, close = open_providers()


def headers():
    """The proxy continues the trace of its client."""
    from opentelemetry.propagate import inject

    carrier = {}
    inject(carrier)
    return carrier


import openai  # noqa: E402

client = openai.OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0, timeout=60)
MORE = {"user": USER, "extra_body": {"metadata": {"session_id": CONVERSATION}, "litellm_session_id": CONVERSATION}}


def ask(messages, model="gpt-5", **more):
    return client.chat.completions.create(model=model, messages=messages, extra_headers=headers(), **MORE, **more)


def embed():
    client.embeddings.create(model="text-embedding-3-small", input="Please embed.", extra_headers=headers())


def fall_back():
    ask([{"role": "user", "content": PLAIN}], model="broken")


def alias():
    ask([{"role": "user", "content": PLAIN}], model="alias")


def respond(**more):
    return client.responses.create(model="gpt-5", extra_headers=headers(), **{**MORE, **more})


def end():
    # The callbacks run after the responses, and spans are exported in batches.
    time.sleep(7)
    PROXY.terminate()
    PROXY.wait(20)
    close()


is_responses = os.environ.get("API") == "responses"
run_steps(*(response_steps(respond) if is_responses else [*chat_steps(ask), embed, fall_back, alias]))
finish(end)
