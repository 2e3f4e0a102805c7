"""Future AGI's traceAI, whose instrumentors take any provider."""

from openai_steps import main
from steps import CONVERSATION, USER


def instrument(provider):
    from traceai_openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)


def around():
    from fi_instrumentation import using_attributes

    return using_attributes(session_id=CONVERSATION, user_id=USER)


main(instrument, around)
