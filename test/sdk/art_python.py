"""A program on the unmodified Python package openpipe-art, started by run-python.sh.

It trains a model through the client's hosted backend: register, sample by the name that the client makes, train, read
the step, delete. Exit code 0 means that all of it was right. Releases from 0.5.23 on, which need Python 3.12, record
the exchanges of a rollout by themselves, and ask for the name of the run; there that is tried, too.
"""

import asyncio
import inspect
import os

import art
import openai
from art.serverless.backend import ServerlessBackend

URL = os.environ["OPENAI_BASE_URL"]
KEY = os.environ["OPENAI_API_KEY"]
QUESTION = {"role": "user", "content": "Name an animal."}
ROLLOUTS = 16
STEPS = 6
# Longer than anything here takes: the client itself waits for ever.
WAIT_S = 60

client = openai.AsyncOpenAI(base_url=URL, api_key=KEY)


def check(name, found, expected):
    if found != expected:
        raise SystemExit(f"not ok: {name}: {found!r} is not {expected!r}")
    print(f"ok: {name}")


async def rollout(model, reward_of):
    answer = await client.chat.completions.create(
        model=model.get_inference_name(),
        messages=[QUESTION],
        max_tokens=6,
        temperature=1,
        logprobs=True,
        extra_body={"return_token_ids": True},
    )
    choice = answer.choices[0]
    return art.Trajectory(messages_and_choices=[QUESTION, choice], reward=reward_of(choice.message.content))


async def gather(model, reward_of=lambda text: float("owl" in text)):
    group = art.TrajectoryGroup(rollout(model, reward_of) for _ in range(ROLLOUTS))
    return await art.gather_trajectory_groups([group])


def mean(groups):
    rewards = [trajectory.reward for trajectory in groups[0].trajectories]
    return sum(rewards) / len(rewards)


async def error_of(awaitable):
    try:
        await asyncio.wait_for(awaitable, WAIT_S)
    except Exception as error:
        return error
    return None


async def learn(backend, model):
    means = []
    for step in range(1, STEPS + 1):
        groups = await gather(model)
        means.append(mean(groups))
        # The client sends null for settings that are not given, and one of them under a name of its own.
        given = {"kimi_k2_tau": 0.01} if step == 2 else {}
        result = await asyncio.wait_for(backend.train(model, groups, learning_rate=3e-3, **given), WAIT_S)
        check(f"step {step}, after a mean reward of {means[-1]:.2f}", result.step, step)
        check("name of the checkpoint", result.artifact_name, f"acme/art/owl:step{step}")
    check("the mean reward rises", mean(await gather(model)) > means[0] + 0.3, True)


async def end_badly(backend, model):
    equal = await gather(model, lambda _text: 1.0)
    result = await asyncio.wait_for(backend.train(model, equal), WAIT_S)
    check("equal rewards make a step without a gradient", result.step, STEPS + 1)
    wrong = await gather(model, lambda text: float(len(text)))
    for trajectory in wrong[0].trajectories:
        choice = trajectory.messages_and_choices[-1]
        choice.token_ids = [10**6] * len(choice.token_ids)
    error = await error_of(backend.train(model, wrong))
    check("tokens that the model does not have fail the job", type(error), RuntimeError)
    check("and say so", "outside of the vocabulary" in str(error), True)
    error = await error_of(backend.train(model, equal, learning_rate=-1))
    check("a wrong setting", type(error), openai.UnprocessableEntityError)
    check("is named", "experimental_config.learning_rate" in str(error), True)


async def delete(backend, model):
    await backend._delete_checkpoint_files(model, [STEPS])
    check("the step that was kept", await model.get_step(), STEPS)
    await backend.delete(model)
    check("the model is gone", type(await error_of(backend._get_step(model))), openai.NotFoundError)


async def record(model):
    """A rollout that the client records by itself; an owl is worth 1, all else nothing, which is the default."""
    with art.Trajectory() as trajectory:
        answer = await client.chat.completions.create(
            model=model.get_inference_name(),
            messages=[QUESTION],
            max_tokens=6,
            temperature=1,
            logprobs=True,
            extra_body={"return_token_ids": True},
        )
    if "owl" in answer.choices[0].message.content:
        trajectory.reward = 1.0
    return trajectory


async def learn_from_exchanges(backend, model):
    rollouts = [await record(model) for _ in range(ROLLOUTS)]
    check("a reward of 0 is not sent", {"reward" in one.model_dump(mode="json") for one in rollouts}, {True, False})
    groups = [art.TrajectoryGroup(rollouts), art.TrajectoryGroup([art.Trajectory()]), art.TrajectoryGroup([])]
    result = await asyncio.wait_for(backend.train(model, groups, learning_rate=3e-3), WAIT_S)
    check("recorded exchanges train a step", result.step, 1)
    check("with a gradient", result.metrics["loss/grad_norm"] > 0, True)
    await backend.delete(model)


async def main():
    backend = ServerlessBackend(api_key=KEY, base_url=URL)
    home = os.environ["HOME"]
    names = {"project": "art", "entity": "acme", "base_model": "tiny", "base_path": home}
    if "run_name" in inspect.signature(art.TrainableModel).parameters:
        names["run_name"] = "owl"
    if hasattr(art.Trajectory, "__enter__"):
        recorded = art.TrainableModel(name="lark", **{**names, "run_name": "lark"})
        await recorded.register(backend)
        await learn_from_exchanges(backend, recorded)
    model = art.TrainableModel(name="owl", **names)
    await model.register(backend)
    check("name for sampling", model.get_inference_name(), "wandb-artifact:///acme/art/owl")
    check("a new model has no step", await model.get_step(), 0)
    await learn(backend, model)
    await end_badly(backend, model)
    await delete(backend, model)
    await backend.close()


asyncio.run(main())
