"""Versions of objects and ops: published, read, tagged, deleted."""

import weave
from shown import check, refused, works


@works("save", "get")
def publish(client):
    saved = client.save({"a": [1, {"b": 2.5}], "größe": None}, "thing")
    check("saved", [saved["a"][1]["b"], saved["größe"]], [2.5, None])
    ref = weave.publish({"rows": weave.Table([{"n": 1}, {"n": 2}])}, "with-rows")
    check("rows", [row["n"] for row in client.get(ref)["rows"]], [1, 2])
    check("a part", weave.ref(f"{ref.uri}/key/rows/index/1/key/n").get(), 2)
    check("the latest", client.get(weave.ref("with-rows:latest"))["rows"][0]["n"], 1)
    prompt = weave.publish(weave.StringPrompt("Hello {name}"), "greeting")
    check("a prompt", client.get(prompt).format(name="you"), "Hello you")
    try:
        client.get(weave.ref("there-is-none:latest"))
    except ValueError:
        return
    raise SystemExit("not ok: an unknown object is found")


@works(
    "add_tags",
    "get_tags",
    "list_tags",
    "remove_tags",
    "set_aliases",
    "get_aliases",
    "list_aliases",
    "remove_aliases",
    "get_tags_and_aliases",
)
def mark(client):
    first = weave.publish({"v": 1}, "marked")
    second = weave.publish({"v": 2}, "marked")
    client.flush()
    client.add_tags(first, ["good", "old"])
    client.set_aliases(first, ["production", "stable"])
    check("tags", sorted(client.get_tags(first)), ["good", "old"])
    check("aliases", sorted(client.get_aliases(first.uri)), ["production", "stable"])
    tags, aliases = client.get_tags_and_aliases(second)
    check("of the latest", [tags, "latest" in aliases], [[], True])
    check("all tags", {"good", "old"} <= set(client.list_tags()), True)
    check("all aliases", {"production", "stable"} <= set(client.list_aliases()), True)
    check("read by alias", client.get(weave.ref("marked:production"))["v"], 1)
    client.set_aliases(second, "production")
    check("an alias moves", client.get(weave.ref("marked:production"))["v"], 2)
    client.remove_tags(first, ["old"])
    client.remove_aliases(first, "stable")
    check("tags that stay", client.get_tags(first), ["good"])
    check("aliases that stay", client.get_aliases(first), [])


@works("delete_object_version", "delete_object_versions", "delete_all_object_versions")
def delete_objects(client):
    refs = [weave.publish({"v": n}, "short-lived") for n in range(4)]
    client.flush()
    client.delete_object_version(refs[0])
    check("some", client.delete_object_versions("short-lived", [refs[1].digest]), 1)
    check("is gone", is_gone(client, refs[0]), True)
    check("the others stay", client.get(refs[2])["v"], 2)
    check("all", client.delete_all_object_versions("short-lived"), 2)
    check("are gone", [is_gone(client, ref) for ref in refs], [True] * 4)


@works("delete_op_version", "delete_all_op_versions")
def delete_ops(client):
    @weave.op(name="short_lived_op")
    def one() -> int:
        return 1

    first = weave.publish(one)

    @weave.op(name="short_lived_op")
    def two() -> int:
        return 2

    second = weave.publish(two)
    client.flush()
    client.delete_op_version(first)
    check("one version", [is_gone(client, first), is_gone(client, second)], [True, False])
    check("all versions", client.delete_all_op_versions("short_lived_op"), 1)
    check("are gone", is_gone(client, second), True)


def is_gone(client, ref):
    try:
        client.get(ref, objectify=False)
    except Exception:
        return True
    return False


def link(client):
    ref = weave.publish(weave.StringPrompt("Hello"), "linked")
    client.flush()
    client.link_prompt_to_registry(ref, target_path="wandb-registry-prompts/mine")


refused(__name__, "data sets of other projects and the registry", link_prompt_to_registry=link)
