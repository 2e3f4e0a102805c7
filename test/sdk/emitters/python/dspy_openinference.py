import dspy
from openinference.instrumentation import using_attributes
from openinference.instrumentation.dspy import DSPyInstrumentor
from steps import CONVERSATION, FAIL, PLAIN, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
DSPyInstrumentor().instrument(tracer_provider=provider)
dspy.configure(lm=dspy.LM("openai/gpt-5", cache=False, num_retries=0, temperature=1, max_tokens=20000))


def plain():
    dspy.Predict("question -> answer")(question=PLAIN)


def fail():
    dspy.Predict("question -> answer")(question=FAIL)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, fail)
finish(close)
