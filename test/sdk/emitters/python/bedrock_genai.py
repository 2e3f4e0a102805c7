from bedrock_steps import main


def instrument(provider):
    from opentelemetry.instrumentation.genai.bedrock import BedrockInstrumentor

    BedrockInstrumentor().instrument(tracer_provider=provider)


main(instrument)
