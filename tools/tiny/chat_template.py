#!/usr/bin/env python3
"""The chat template of the model file. As a program, writes it into a file and leaves the weights as they are.

Usage: chat_template.py FILE
"""

import struct
import sys

import gguf_writer as gguf
from gguf_reader import align, read_head
from tool_corpus import THINK

TEMPLATE = (
    "{%- if tools %}{{- '<|im_start|>system\\n' }}"
    "{%- for tool in tools %}{{- 'Tool: ' }}{{- tool.function.name }}{{- '(' }}"
    "{%- if tool.function.parameters.properties is mapping %}"
    "{%- for name in tool.function.parameters.properties %}"
    "{{- name }}{%- if not loop.last %}{{- ', ' }}{%- endif %}"
    "{%- endfor %}{%- endif %}"
    "{{- ')\\n' }}{%- endfor %}"
    "{{- '<|im_end|>\\n' }}{%- endif %}"
    "{%- if documents %}{{- '<|im_start|>system\\n' }}"
    "{%- for document in documents %}"
    "{{- document.title }}{{- ': ' }}{{- document.text }}{{- '\\n' }}"
    "{%- endfor %}{{- '<|im_end|>\\n' }}{%- endif %}"
    "{%- if enable_thinking %}{{- '<|im_start|>system\\n" + THINK + "<|im_end|>\\n' }}{%- endif %}"
    "{%- for message in messages %}"
    "{%- set role = 'system' if message.role == 'developer' else message.role %}"
    "{{- '<|im_start|>' + role + '\\n' }}"
    "{%- if message.content %}{{- message.content }}{%- endif %}"
    "{%- if message.tool_calls %}{%- for call in message.tool_calls if call.function %}"
    "{{- '<tool_call>{\"name\": ' }}{{- call.function.name | tojson }}"
    "{%- set arguments = call.function.arguments or {} %}"
    "{{- ', \"arguments\": ' }}{{- arguments if arguments is string else arguments | tojson }}"
    "{{- '}</tool_call>' }}"
    "{%- endfor %}{%- endif %}"
    "{{- '<|im_end|>\\n' }}"
    "{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def replace(data, template):
    """The bytes of a GGUF file with another template. Offsets of tensors count from the aligned end of the head."""
    key = gguf.text("tokenizer.chat_template") + struct.pack("<I", gguf.STRING)
    _, _, end = read_head(data)
    at = data.index(key, 0, end) + len(key)
    (length,) = struct.unpack_from("<Q", data, at)
    head = data[:at] + gguf.text(template) + data[at + 8 + length:end]
    return head + b"\0" * (align(len(head)) - len(head)) + data[align(end):]


if __name__ == "__main__":
    (path,) = sys.argv[1:]
    with open(path, "rb") as file:
        replaced = replace(file.read(), TEMPLATE)
    with open(path, "wb") as file:
        file.write(replaced)
