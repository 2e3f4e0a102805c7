from genai_steps import main


def instrument(provider):
    from opentelemetry.instrumentation.google_generativeai import GoogleGenerativeAiInstrumentor

    GoogleGenerativeAiInstrumentor().instrument(tracer_provider=provider)


main(instrument)
