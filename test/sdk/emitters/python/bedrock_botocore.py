from bedrock_steps import main


def instrument(provider):
    from opentelemetry.instrumentation.botocore import BotocoreInstrumentor

    BotocoreInstrumentor().instrument(tracer_provider=provider)


main(instrument)
