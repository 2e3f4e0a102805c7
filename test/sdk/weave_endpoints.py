"""Holds test/sdk/weave-endpoints.json against the package: every address that its code can ask is in the list.

Reads the package's source, asks no server. Exit code 0 means that the list is the package's.
"""

import ast
import json
import pathlib

import weave

ASKING = {"_post", "_get", "_put", "_patch", "_delete", "post"}
# Addresses that the source puts together from constants, in these files.
CONSTANTS = {
    "link_asset_to_registry.py": ("POST", "LINK_TO_REGISTRY_PATH"),
    "urls.py": ("POST", "_OTEL_GENAI_TRACES_PATH"),
}


def text_of(node):
    """An address as text, with {name} for what is put in; None for what is no address."""
    if isinstance(node, ast.Call) and node.args:
        return text_of(node.args[0])
    if isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}"
            for part in node.values
        ]
        return "".join(parts)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def endpoints_of(path):
    constant = CONSTANTS.get(path.name)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ASKING and node.args:
                address = text_of(node.args[0])
                if address is not None and address.startswith("/"):
                    yield f"{node.func.attr.strip('_').upper()} {address}"
        elif constant and isinstance(node, ast.Assign):
            method, name = constant
            if [ast.unparse(target) for target in node.targets] == [name]:
                yield f"{method} {text_of(node.value)}"


def main():
    root = pathlib.Path(weave.__file__).parent
    files = [
        *root.glob("vendor/weave_server_sdk/resources/**/*.py"),
        *root.glob("trace_server_bindings/*.py"),
        root / "trace/urls.py",
    ]
    found = {endpoint for path in files for endpoint in endpoints_of(path)}
    listed = json.loads(pathlib.Path("test/sdk/weave-endpoints.json").read_text())
    if len(found) < 100 or found != set(listed):
        raise SystemExit(
            f"not ok: the package asks {sorted(found - set(listed))}, "
            f"the list has {sorted(set(listed) - found)} besides"
        )
    print(f"ok: {len(listed)} addresses that the package can ask are in the list")


if __name__ == "__main__":
    main()
