"""LangSmith's tracing as OpenTelemetry alone: nothing goes to its own service."""

import os

os.environ.update(LANGSMITH_OTEL_ENABLED="true", LANGSMITH_OTEL_ONLY="true", LANGSMITH_TRACING="true")

from langchain_steps import main


def flush():
    from langsmith.run_trees import get_cached_client

    get_cached_client().flush()


main(lambda provider: None, flush=flush)
