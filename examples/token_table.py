"""What examples/worker.py runs for a job: the place of your own trainer.

This is no trainer of language models. It learns one number for each token, which says whether the answers with that
token were better than the others of their group. Its artifact is a JSON file and NOT an adapter: jobs run, steps are
counted and artifacts can be downloaded, but no model can be asked with them.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import defaultdict
from typing import Any


class BadData(Exception):
    """What another attempt would not mend: the job fails for good, with this code."""

    code, retryable = "invalid_data", False


def train(
    job: dict[str, Any], groups: list[Any], parent: bytes | None, report: Any
) -> tuple[bytes | None, dict[str, float], str | None]:
    """Trains one job; put your own in its place.

    job: the claim; `resolved_config` has the settings. groups: the trajectory groups as the client sent them.
    parent: the artifact to go on from; None for the base model. report: call `started` once and `step` for each
    gradient step; both raise when the work is to be dropped, and so does `check`, for long steps. Let that pass.

    Returns the new artifact, numbers for the checkpoint, and None; or None, numbers, and the reason why there was
    nothing to train on: no_choice, no_logprobs or no_variance.
    """
    config = job["resolved_config"]
    table = defaultdict(float, read_table(parent))
    # Clients leave out what has its default: no rollouts, a reward of 0.
    rewards = [reward_of(rollout) for group in groups for rollout in group.get("trajectories", [])]
    metrics: dict[str, float] = {"reward": mean_of(rewards)}
    batches, has_tokens = [], False
    for group in groups:
        rollouts = group.get("trajectories", [])
        tokens = [sampled_tokens(rollout) for rollout in rollouts]
        has_tokens = has_tokens or any(tokens)
        advantages = compare([reward_of(rollout) for rollout in rollouts], config["scale_rewards"])
        batch = [(t, a) for t, a in zip(tokens, advantages) if t and a != 0]
        if batch:
            batches.append(batch)
    metrics["num_groups_trainable"] = len(batches)
    report.started(len(batches))
    if not batches:
        if job["trainable_count"] == 0:
            return None, metrics, "no_choice"
        return None, metrics, "no_variance" if has_tokens else "no_logprobs"

    losses = []
    for batch in batches:
        gradient: dict[str, float] = defaultdict(float)
        loss = 0.0
        for tokens_of_rollout, advantage in batch:
            weight = advantage / (len(tokens_of_rollout) * len(batch))
            for token, logprob in tokens_of_rollout:
                loss -= weight * logprob
                # How fast a token's log probability rises with a number added to its logit.
                gradient[token] += weight * (1 - math.exp(min(0.0, logprob)))
        for token, slope in gradient.items():
            table[token] += config["learning_rate"] * slope
        norm = math.hypot(*gradient.values())
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise BadData("the rewards are too large to train on without scale_rewards")
        losses.append(loss)
        report.step(loss=loss, grad_norm=norm)
    metrics["loss"] = mean_of(losses)
    return json.dumps({"token_bias": table}, sort_keys=True).encode(), metrics, None


def compare(rewards: list[float], scale: bool) -> list[float]:
    """Advantages: how much better each rollout is than the mean of its group."""
    unit = unit_of(rewards)
    small = [reward / unit for reward in rewards]
    mean = mean_of(small)
    size = statistics.pstdev(small, mean) + 1e-6 / unit if scale and small else 1 / unit
    return [(reward - mean) / size for reward in small]


def mean_of(numbers: list[float]) -> float:
    """The mean, exactly the numbers when they are equal; 0 for no numbers."""
    if not numbers:
        return 0.0
    unit = unit_of(numbers)
    mean = unit * statistics.fmean(number / unit for number in numbers)
    return min(max(numbers), max(min(numbers), mean))


def unit_of(numbers: list[float]) -> float:
    """A power of two, by which nothing is rounded; sums and squares of numbers divided by it are finite."""
    largest = max((abs(number) for number in numbers), default=0)
    return math.ldexp(1, max(0, math.frexp(largest)[1] - 1))


def reward_of(rollout: dict[str, Any]) -> float:
    return rollout.get("reward", 0.0)


def sampled_tokens(rollout: dict[str, Any]) -> list[tuple[str, float]]:
    """The tokens of a rollout's choices with their log probabilities; messages are context, an assistant's too."""
    histories = [rollout, *(rollout.get("additional_histories") or [])]
    entries = [entry for history in histories for entry in history.get("messages_and_choices", [])]
    choices = [entry for entry in entries if "finish_reason" in entry and "message" in entry]
    exchanges = rollout.get("exchanges", {}).get("chat_completions", [])
    choices += [choice for exchange in exchanges for choice in exchange["response"]["choices"]]
    contents = [(choice.get("logprobs") or {}).get("content") or [] for choice in choices]
    return [(item["token"], item["logprob"]) for content in contents for item in content]


def read_table(parent: bytes | None) -> dict[str, float]:
    try:
        return {} if parent is None else json.loads(parent)["token_bias"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadData("the parent's artifact is not one of this worker's") from error
