"""Models that the server asks."""

from shown import PROGRAMS, check, note, refused, works
from weave.trace.constants import INFERENCE_HOST


@works("chat")
def chat(client):
    messages = [{"role": "user", "content": "What is 3 plus 4?"}]
    whole = client.chat.completions.create(model="tiny", messages=messages, temperature=0, max_tokens=40)
    check("an answer", whole.choices[0].message.role, "assistant")
    check("in words", len(whole.choices[0].message.content) > 0, True)
    pieces = client.chat.completions.create(
        model="tiny", messages=messages, temperature=0, max_tokens=40, stream=True
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in pieces)
    check("the same in pieces", text, whole.choices[0].message.content)
    client.flush()
    traced = list(client.get_calls(filter={"trace_roots_only": True}))
    names = [call.op_name for call in traced if "completions_create" in call.op_name]
    check("traced by the client alone", len(names), 2)


def inference_models(client):
    """A host of the vendor is fixed in it, so that nothing is asked of it here."""
    check("the host", INFERENCE_HOST, "api.inference.wandb.ai")


note(__name__, "inference_models", "a fixed host of the vendor")
PROGRAMS.append(inference_models)


def custom_runtime(client):
    client.register_custom_runtime(name="mine", base_url="http://127.0.0.1:1", runtime_ids=["m"])


refused(__name__, "runtimes that clients register", register_custom_runtime=custom_runtime)
