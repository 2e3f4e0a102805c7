"""Pipecat, whose pipelines have spans of their own: a conversation, its turns, and the services that they ask."""

import asyncio
import os
import sys

from loguru import logger
from pipecat.frames.frames import EndFrame, LLMContextFrame, LLMFullResponseEndFrame, LLMTextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.workers.runner import WorkerRunner
from steps import CONVERSATION, FAIL, PLAIN, PROVIDER, STREAM, SUNNY, USER, WEATHER, finish, open_providers, run_steps

logger.remove()
logger.add(sys.stdout, level="WARNING")
provider, close = open_providers()
loop = asyncio.new_event_loop()


async def get_weather(params, city: str):
    """The weather of a city.

    Args:
        city: The name of the city.
    """
    await params.result_callback(SUNNY)


class Listener(FrameProcessor):
    """Reports the end of an answer that has a text."""

    def __init__(self, ended):
        super().__init__()
        self.ended = ended
        self.has_text = False

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        self.has_text = self.has_text or isinstance(frame, LLMTextFrame)
        if self.has_text and isinstance(frame, LLMFullResponseEndFrame):
            self.ended.set()
        await self.push_frame(frame, direction)


def open_service():
    if os.environ.get("API") != "anthropic":
        settings = OpenAILLMService.Settings(model="gpt-5")
        return OpenAILLMService(api_key="none", base_url=PROVIDER + "/v1", settings=settings)
    from pipecat.services.anthropic.llm import AnthropicLLMService

    return AnthropicLLMService(api_key="none", settings=AnthropicLLMService.Settings(model="claude-sonnet-4-5"))


def ask(question, tools=()):
    async def run():
        llm = open_service()
        ended = asyncio.Event()
        context = LLMContext([{"role": "user", "content": question}], **({"tools": list(tools)} if tools else {}))
        pair = LLMContextAggregatorPair(context)
        worker = PipelineWorker(
            Pipeline([llm, Listener(ended), pair.assistant()]),
            params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
            enable_tracing=True,
            conversation_id=CONVERSATION,
            additional_span_attributes={"user.id": USER},
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        worker.add_event_handler("on_pipeline_error", lambda worker, frame: ended.set())
        await worker.queue_frame(LLMContextFrame(context))
        running = asyncio.create_task(runner.run())
        await asyncio.wait_for(ended.wait(), 20)
        await worker.queue_frame(EndFrame())
        await running

    loop.run_until_complete(run())


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER, [get_weather])


# All of its answers are streams.
def stream():
    ask(STREAM)


def fail():
    ask(FAIL)


run_steps(plain, tool, stream, fail)
finish(close)
