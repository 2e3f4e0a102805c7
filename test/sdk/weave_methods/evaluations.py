"""Evaluations that were published and run, and what reads them back."""

import asyncio

import weave
from shown import check, works


@weave.op
def is_right(expected: str, output: str) -> bool:
    return output == expected


@weave.op
def shout(question: str) -> str:
    return question.upper()


@works("get_evaluation", "get_evaluations")
def evaluations(client):
    rows = [{"question": "a", "expected": "A"}, {"question": "b", "expected": "x"}]
    data = weave.Dataset(name="two-letters", rows=rows)
    evaluation = weave.Evaluation(name="of-two-letters", dataset=data, scorers=[is_right])
    summary = asyncio.run(evaluation.evaluate(shout))
    check("the score", summary["is_right"], {"true_count": 1, "true_fraction": 0.5})
    client.flush()
    again = client.get_evaluation(evaluation.ref.uri)
    check("read back", [again.name, [dict(row) for row in again.dataset.rows]], ["of-two-letters", rows])
    check("run again", asyncio.run(again.evaluate(shout))["is_right"], summary["is_right"])
    check("in the list", "of-two-letters" in [one.name for one in client.get_evaluations()], True)
    client.flush()
    scores = [score for call in again.get_score_calls().values() for score in call]
    check("its scores", len(scores), 4)
