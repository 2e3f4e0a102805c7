from bedrock_steps import main
from steps import CONVERSATION, USER


def instrument(provider):
    from openinference.instrumentation.bedrock import BedrockInstrumentor

    BedrockInstrumentor().instrument(tracer_provider=provider)


def around():
    from openinference.instrumentation import using_attributes

    return using_attributes(session_id=CONVERSATION, user_id=USER)


main(instrument, around)
