"""The Claude Agent SDK, whose program sends the spans."""

import asyncio
import os

from claude_agent_sdk import ClaudeAgentOptions, query
from steps import FAIL, PLAIN, attempt, finish

os.environ.update(
    CLAUDE_CODE_ENABLE_TELEMETRY="1",
    CLAUDE_CODE_ENHANCED_TELEMETRY_BETA="1",
    OTEL_TRACES_EXPORTER="otlp",
    OTEL_LOGS_EXPORTER="otlp",
    OTEL_METRICS_EXPORTER="none",
    OTEL_LOG_USER_PROMPTS="1",
    OTEL_LOG_TOOL_DETAILS="1",
    OTEL_LOG_TOOL_CONTENT="1",
    OTEL_TRACES_EXPORT_INTERVAL="500",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
)


def ask(question):
    async def run():
        options = ClaudeAgentOptions(model="claude-sonnet-4-5", max_turns=2, allowed_tools=[])
        async for _ in query(prompt=question, options=options):
            pass

    asyncio.run(run())


def plain():
    ask(PLAIN)


attempt(plain)
finish(lambda: None)
