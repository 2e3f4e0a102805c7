import os

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false")

from crewai import Agent, Crew, LLM, Task
from crewai.tools import tool as as_tool
from openinference.instrumentation import using_attributes
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from steps import CONVERSATION, FAIL, PLAIN, USER, WEATHER, finish, get_weather, open_providers, run_steps

provider, close = open_providers()
CrewAIInstrumentor().instrument(tracer_provider=provider)
OpenAIInstrumentor().instrument(tracer_provider=provider)


def ask(question):
    agent = Agent(
        role="forecaster",
        goal="Be brief.",
        backstory="None.",
        llm=LLM(model="openai/gpt-5", max_retries=0),
        tools=[as_tool("get_weather")(get_weather)],
        max_iter=3,
        max_retry_limit=0,
        verbose=False,
    )
    task = Task(description=question, expected_output="One sentence.", agent=agent)
    Crew(agents=[agent], tasks=[task], verbose=False).kickoff()


def plain():
    ask(PLAIN)


def tool():
    ask(WEATHER)


def fail():
    ask(FAIL)


with using_attributes(session_id=CONVERSATION, user_id=USER):
    run_steps(plain, tool, fail)
finish(close)
