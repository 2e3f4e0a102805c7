"""The models of datamodel-code-generator: what they write is taken, what is answered they read."""

import os

import httpx
import weft_models as models

auth = ("api", os.environ["SERVER_KEY"])
url = os.environ["SERVER_URL"]


def post(path: str, body) -> dict:
    headers = {"content-type": "application/json"}
    content = body.model_dump_json(exclude_none=True)
    answer = httpx.post(f"{url}{path}", content=content, auth=auth, headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


start = models.StartedCallSchemaForInsert(
    project_id="acme/datamodel",
    op_name="answer",
    started_at="2026-01-01T00:00:00Z",
    attributes={},
    inputs={},
)
body = post("/call/start", models.CallStartRequest(start=start))
started = models.CallStartResponse.model_validate(body)
wanted = models.CallReadRequest(project_id="acme/datamodel", id=started.id)
read = models.CallReadResponse.model_validate(post("/call/read", wanted))
assert read.call.op_name == "answer"
