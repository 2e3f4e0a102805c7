from langchain_steps import main


def instrument(provider):
    from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)


main(instrument)
