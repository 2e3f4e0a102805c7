"""MLflow's own export over OTLP."""

import os
import time

os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
os.environ["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] = os.environ["OTEL_EXPORTER_OTLP_HEADERS"]
os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"

import mlflow
import openai
import openai_steps
from openai_steps import CHAT, RESPONSES
from steps import CONVERSATION, USER, attempt, finish

mlflow.openai.autolog()
openai_steps.client = openai.OpenAI(max_retries=0, timeout=20)
with mlflow.start_span("program"):
    mlflow.update_current_trace(metadata={"mlflow.trace.session": CONVERSATION, "mlflow.trace.user": USER})
    for step in RESPONSES if os.environ.get("API") == "responses" else CHAT:
        attempt(step)
# Its exporter has no public way to end.
finish(lambda: time.sleep(7))
