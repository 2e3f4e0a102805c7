"""Reads back what gguf_writer.py writes: metadata, and tensors as float32. Knows nothing of models."""

import struct

import numpy as np

from gguf_writer import ALIGNMENT, ARRAY, BOOL, F32, I32, STRING, TENSOR_F16, U32

FORMATS = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}


class Cursor:
    """A place in the file's bytes that moves on with each read."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        (item,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return item

    def text(self):
        length = self.take("<Q")
        self.at += length
        return self.data[self.at - length:self.at].decode("utf-8")

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind != ARRAY:
            return self.take(FORMATS[kind])
        element, count = self.take("<I"), self.take("<Q")
        return [self.value(element) for _ in range(count)]


def read_head(data):
    """Answers the metadata, a (name, shape, kind, offset) per tensor, and where in the bytes they end."""
    cursor = Cursor(data)
    cursor.at = 8
    tensor_count, key_count = cursor.take("<Q"), cursor.take("<Q")
    metadata = {cursor.text(): cursor.value(cursor.take("<I")) for _ in range(key_count)}
    heads = []
    for _ in range(tensor_count):
        name = cursor.text()
        shape = [cursor.take("<Q") for _ in range(cursor.take("<I"))][::-1]
        heads.append((name, shape, cursor.take("<I"), cursor.take("<Q")))
    return metadata, heads, cursor.at


def align(offset):
    """Where the tensors begin behind a head of that many bytes."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def read(path):
    """Answers the metadata and the tensors, each as a dict by name."""
    with open(path, "rb") as file:
        data = file.read()
    metadata, heads, end = read_head(data)
    begin = align(end)
    tensors = {}
    for name, shape, kind, offset in heads:
        form = np.float16 if kind == TENSOR_F16 else np.float32
        flat = np.frombuffer(data, form, int(np.prod(shape)), begin + offset)
        tensors[name] = flat.reshape(shape).astype(np.float32)
    return metadata, tensors
