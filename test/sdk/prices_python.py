"""Costs of usage objects as providers write them, compared with those of genai-prices, started by run-python.sh.

Each object is the usage of a call that is sent to the server; `include_costs` must have what genai-prices computes of the
same object for the same time. Exit code 0 means that all are equal, but for the differences that DIFFERENT names.
"""

import base64
import json
import os
import urllib.request
from datetime import datetime, timezone

from genai_prices import calc_price, extract_usage

BASE_URL = os.environ["WANDB_BASE_URL"]
KEY = os.environ["WANDB_API_KEY"]
PROJECT = "acme/prices"
AT = datetime(2026, 11, 15, 12, tzinfo=timezone.utc)


def chat(prompt, completion, total=None, **details):
    """A usage of chat completions; `details` are those of the prompt and of the completion."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total or prompt + completion}
    sent = {name[4:]: value for name, value in details.items() if name.startswith("sent")}
    answered = {name[8:]: value for name, value in details.items() if name.startswith("answered")}
    if sent:
        usage["prompt_tokens_details"] = sent
    if answered:
        usage["completion_tokens_details"] = answered
    return usage


def responses(sent, answered, cached=0, reasoning=0):
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": answered,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": sent + answered,
    }


def claude(sent, answered, read=0, minutes=0, hour=0):
    return {
        "input_tokens": sent,
        "cache_creation_input_tokens": minutes + hour,
        "cache_read_input_tokens": read,
        "cache_creation": {"ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": hour},
        "output_tokens": answered,
        "service_tier": "standard",
    }


def gemini(sent, answered, thoughts=0, cached=0):
    usage = {"promptTokenCount": sent, "candidatesTokenCount": answered}
    if thoughts:
        usage["thoughtsTokenCount"] = thoughts
    if cached:
        usage["cachedContentTokenCount"] = cached
    return {**usage, "totalTokenCount": sent + answered + thoughts}


CHAT = {
    "plain": chat(1000, 100),
    "cached": chat(10_000, 100, sentcached_tokens=8000),
    "reasoning": chat(1000, 900, answeredreasoning_tokens=700),
    "long": chat(300_000, 2000),
    "at 272000": chat(272_000, 10),
    "nothing": chat(0, 0),
}
SHAPES = {
    ("openai", "chat"): CHAT,
    ("openai", "responses"): {
        "plain": responses(1000, 100),
        "cached": responses(10_000, 100, cached=8000),
        "reasoning": responses(1000, 900, reasoning=700),
        "long": responses(300_000, 2000, cached=100_000),
    },
    ("anthropic", "default"): {
        "plain": claude(1000, 100),
        "read": claude(100, 10, read=100_000),
        "written": claude(1000, 100, minutes=10_000),
        "written for an hour": claude(1000, 100, hour=10_000),
        "all": claude(1000, 100, read=5000, minutes=300, hour=200),
        "long": claude(250_000, 1000),
        "at 200000": claude(200_000, 10),
    },
    ("google", "default"): {
        "plain": gemini(1000, 100),
        "thoughts": gemini(1000, 100, thoughts=900),
        "cached": gemini(10_000, 100, cached=8000),
        "all": gemini(10_000, 100, thoughts=900, cached=8000),
        "long": gemini(250_000, 100),
        "at 200000": gemini(200_000, 10),
    },
    ("x-ai", "chat"): {
        "plain": chat(1000, 100),
        "cached": chat(10_000, 100, sentcached_tokens=8000),
        "reasoning": chat(1000, 100, total=2000, answeredreasoning_tokens=900),
        "long": chat(250_000, 100),
    },
    ("groq", "default"): {"plain": chat(1000, 100), "cached": chat(1000, 100, sentcached_tokens=500)},
    ("mistral", "default"): {"plain": chat(1000, 100), "long": chat(250_000, 1000)},
    ("deepseek", "chat"): {
        "plain": chat(1000, 100),
        # The list for Python reads the details, as DeepSeek writes both.
        "cached": {
            **chat(1000, 100, sentcached_tokens=800),
            "prompt_cache_hit_tokens": 800,
            "prompt_cache_miss_tokens": 200,
        },
    },
}
GPT = """gpt-3.5-turbo gpt-4 gpt-4-turbo gpt-4o gpt-4o-2024-05-13 gpt-4o-mini gpt-4.1 gpt-4.1-mini gpt-4.1-nano gpt-5
gpt-5-mini gpt-5-nano gpt-5.1 gpt-5.2 gpt-5.4 gpt-5.4-mini gpt-5.5 gpt-6-sol o1 o3 o3-mini o4-mini""".split()
CLAUDE = """claude-haiku-4-5 claude-sonnet-4-5 claude-sonnet-4-6 claude-opus-4-5 claude-opus-4-6 claude-opus-4-8
claude-sonnet-5 claude-opus-5""".split()
MODELS = {
    ("openai", "chat"): GPT,
    ("openai", "responses"): GPT,
    ("anthropic", "default"): CLAUDE,
    ("google", "default"): "gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemini-3-flash-preview gemini-3.1-pro-preview".split(),
    ("x-ai", "chat"): "grok-4 grok-4.20 grok-4.3".split(),
    ("groq", "default"): "llama-3.3-70b-versatile llama-3.1-8b-instant openai/gpt-oss-120b".split(),
    ("mistral", "default"): "mistral-large-2512 mistral-small-latest codestral-2508".split(),
    ("deepseek", "chat"): "deepseek-chat deepseek-reasoner".split(),
}
#: How genai-prices names a tier of service.
TIERS = {
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
}
#: Why a cost differs, by model and shape: the list of the npm package 0.1.8 is older than that of 0.2.3 for Python.
DIFFERENT = {
    # OpenAI's price for long input begins at exactly 272,000 tokens, as the npm list says; that for Python has it above.
    ("gpt-5.4", "at 272000"): "the lists have other thresholds",
    ("gpt-5.5", "at 272000"): "the lists have other thresholds",
    **{("mistral-small-latest", shape): "the lists mean other models" for shape in ("plain", "long", "plain, batch")},
}


def post(path, body):
    request = urllib.request.Request(
        BASE_URL + path,
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": "Basic " + base64.b64encode(b"api:" + KEY.encode()).decode()},
    )
    return json.load(urllib.request.urlopen(request))


def cost_here(name, model, provider, usage):
    at = AT.isoformat()
    start = {"project_id": PROJECT, "id": name, "op_name": "o", "started_at": at, "attributes": {}, "inputs": {}}
    post("/call/start", {"start": start})
    summary = {"usage": {model: {**usage, "provider": provider}}}
    post("/call/end", {"end": {"project_id": PROJECT, "id": name, "ended_at": at, "summary": summary}})
    call = post("/call/read", {"project_id": PROJECT, "id": name, "include_costs": True})["call"]
    return call["summary"].get("weave", {}).get("total_cost")


def read_there(model, provider, flavor, usage):
    key = "usageMetadata" if provider == "google" else "usage"
    named = {"modelVersion": model} if provider == "google" else {"model": model}
    return extract_usage({**named, key: usage}, provider_id=provider, api_flavor=flavor)


def cost_there(extracted, context=None):
    usage, model, provider = extracted.usage, extracted.model, extracted.provider
    return float(
        calc_price(
            usage, model.id, provider_id=provider.id, genai_request_timestamp=AT, price_context=context
        ).total_price
    )


count, wrong, excused = 0, [], set()


def compare(model, provider, shape, usage, expected):
    global count
    count += 1
    found = cost_here(f"price-{os.getpid()}-{count}", model, provider, usage)
    if found is not None and abs(found - expected) < 1e-9:
        return
    if (model, shape) not in DIFFERENT:
        wrong.append(f"{provider} {model} {shape}: {found} is not {expected}")
    excused.add((model, shape))


def has_variant(model, when):
    return any(variant.when == when and variant.prices.__dict__ for variant in model.price_variants or ())


for (provider, flavor), shapes in SHAPES.items():
    for model in MODELS[provider, flavor]:
        for shape, usage in shapes.items():
            compare(model, provider, shape, usage, cost_there(read_there(model, provider, flavor, usage)))
        extracted = read_there(model, provider, flavor, shapes["plain"])
        for tier, when in TIERS.items():
            if has_variant(extracted.model, when):
                usage = {**shapes["plain"], "service_tier": tier}
                compare(model, provider, f"plain, {tier}", usage, cost_there(extracted, when))
for line in wrong:
    print("not ok:", line)
for gone in DIFFERENT.keys() - excused:
    print("not ok: no difference any more:", *gone)
print(f"compared {count} costs, {len(excused)} different")
raise SystemExit(1 if wrong or DIFFERENT.keys() - excused else 0)
