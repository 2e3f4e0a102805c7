"""The client of openapi-python-client: records a call and reads it, lists models."""

import base64
import datetime
import os

from weft_client import AuthenticatedClient
from weft_client.api.calls import read_call, start_call
from weft_client.api.inference import list_models
from weft_client.models import (
    CallReadRequest,
    CallReadResponse,
    CallStartRequest,
    CallStartResponse,
    ModelListResponse,
    StartedCallSchemaForInsert,
)

key = os.environ["SERVER_KEY"]
url = os.environ["SERVER_URL"]
token = base64.b64encode(f"api:{key}".encode()).decode()
start = StartedCallSchemaForInsert.from_dict(
    {
        "project_id": "acme/python-client",
        "op_name": "answer",
        "started_at": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc).isoformat(),
        "attributes": {},
        "inputs": {},
    }
)
with AuthenticatedClient(base_url=url, token=token, prefix="Basic") as client:
    started = start_call.sync(client=client, body=CallStartRequest(start=start))
    assert isinstance(started, CallStartResponse), started
    wanted = CallReadRequest(project_id=start.project_id, id=started.id)
    read = read_call.sync(client=client, body=wanted)
    assert isinstance(read, CallReadResponse), read
    assert read.call.op_name == "answer"
with AuthenticatedClient(base_url=url, token=key) as client:
    models = list_models.sync(client=client)
    assert isinstance(models, ModelListResponse) and models.data, models
