"""The client of openapi-generator for Python: records a call and reads it, lists models."""

import os
from datetime import datetime, timezone

from openapi_client import ApiClient, CallsApi, Configuration, InferenceApi
from openapi_client.models import (
    CallReadRequest,
    CallStartRequest,
    StartedCallSchemaForInsert,
)

key = os.environ["SERVER_KEY"]
configuration = Configuration(
    host=os.environ["SERVER_URL"], username="api", password=key, access_token=key
)
with ApiClient(configuration) as client:
    calls = CallsApi(client)
    start = StartedCallSchemaForInsert(
        project_id="acme/generator-python",
        op_name="answer",
        started_at=datetime(2026, 1, 1, tzinfo=timezone.utc),
        attributes={},
        inputs={},
    )
    started = calls.start_call(CallStartRequest(start=start))
    read = calls.read_call(CallReadRequest(project_id=start.project_id, id=started.id))
    assert read.call.op_name == "answer"
    assert InferenceApi(client).list_models().data
