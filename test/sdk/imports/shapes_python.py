"""Reads the responses that tests of imports are given by the types of the tools' clients, by hand:

    pip install langfuse==5.0.4 langsmith==0.15.1 opik==2.2.122
    python test/sdk/imports/shapes_python.py
"""

import json
import pathlib

import langfuse.api as langfuse
import pydantic
from langfuse.api.core.pydantic_utilities import parse_obj_as
from langfuse.api.observations.types import ObservationsV2Response
from langfuse.api.prompts.types import PromptMetaListResponse
from langfuse.api.scores.types import GetScoresV3Response
from langsmith import schemas
from opik.rest_api import types as opik

FOLDER = pathlib.Path(__file__).parents[2] / "imports" / "fixtures"
EACH = "each"

LANGFUSE = {
    "/v2/observations": ObservationsV2Response,
    "/v3/scores": GetScoresV3Response,
    "/v2/datasets": langfuse.PaginatedDatasets,
    "/dataset-items": langfuse.PaginatedDatasetItems,
    "/v2/prompts?": PromptMetaListResponse,
    "/v2/prompts/": langfuse.Prompt,
}
LANGSMITH = {
    "/sessions": (EACH, schemas.TracerSession),
    "/runs/query": ("runs", schemas.Run),
    "/feedback": (EACH, schemas.Feedback),
    "/datasets": (EACH, schemas.Dataset),
    "/examples": (EACH, schemas.Example),
    "/repos": ("repos", schemas.Prompt),
    "/greet/?": ("commits", schemas.ListedPromptCommit),
    "/greet/": schemas.PromptCommit,
}
OPIK = {
    "/traces/search": ("lines", opik.TracePublic),
    "/spans/search": ("lines", opik.SpanPublic),
    "/items": opik.DatasetItemPagePublic,
    "/datasets": opik.DatasetPagePublic,
    "/versions": opik.PromptVersionPagePublic,
    "/prompts": opik.PromptPagePublic,
}


def check(name, table):
    responses = json.loads((FOLDER / f"{name}.json").read_text())
    for request, response in responses.items():
        wanted = next(kind for path, kind in table.items() if path in request)
        if isinstance(wanted, tuple):
            where, kind = wanted
            items = response if where == EACH else response.splitlines() if where == "lines" else response[where]
            for item in items:
                pydantic.TypeAdapter(kind).validate_python(json.loads(item) if where == "lines" else item)
        elif name == "langfuse":
            # Its own function knows the names on the wire.
            parse_obj_as(wanted, response)
        else:
            more = {"owner": "-", "repo": "greet"} if wanted is schemas.PromptCommit else {}
            pydantic.TypeAdapter(wanted).validate_python({**response, **more})
    print(f"ok: {name}, {len(responses)} responses")


check("langfuse", LANGFUSE)
check("langsmith", LANGSMITH)
check("opik", OPIK)
