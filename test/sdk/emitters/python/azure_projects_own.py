"""Azure's AIProjectInstrumentor, which writes spans of the responses of OpenAI's client."""

import os

os.environ["AZURE_EXPERIMENTAL_ENABLE_GENAI_TRACING"] = "true"

from openai_steps import main


def instrument(provider):
    from azure.ai.projects.telemetry import AIProjectInstrumentor
    from azure.core.settings import settings

    settings.tracing_implementation = "opentelemetry"
    AIProjectInstrumentor().instrument(enable_content_recording=True)


main(instrument)
