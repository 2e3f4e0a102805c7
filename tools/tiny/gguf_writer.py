"""Writes a GGUF v3 file: metadata and F16/F32 tensors. Knows nothing of models."""

import struct

ALIGNMENT = 32
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
TENSOR_F32, TENSOR_F16 = 0, 1


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def value(kind, item):
    if kind == U32:
        return struct.pack("<I", item)
    if kind == I32:
        return struct.pack("<i", item)
    if kind == F32:
        return struct.pack("<f", item)
    if kind == BOOL:
        return struct.pack("<?", item)
    if kind == STRING:
        return text(item)
    element, items = item
    return struct.pack("<IQ", element, len(items)) + b"".join(value(element, i) for i in items)


def write(path, metadata, tensors):
    """metadata: list of (key, kind, value), an array's value is (element kind, items).

    tensors: list of (name, numpy array), float32 or float16; the last axis is the innermost.
    """
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, kind, item in metadata:
        head += text(key) + struct.pack("<I", kind) + value(kind, item)
    offset, body = 0, b""
    for name, array in tensors:
        kind = TENSOR_F16 if array.dtype.itemsize == 2 else TENSOR_F32
        head += text(name) + struct.pack("<I", array.ndim)
        head += b"".join(struct.pack("<Q", n) for n in reversed(array.shape))
        head += struct.pack("<IQ", kind, offset)
        data = array.tobytes()
        data += b"\0" * (-len(data) % ALIGNMENT)
        body += data
        offset += len(data)
    head += b"\0" * (-len(head) % ALIGNMENT)
    with open(path, "wb") as out:
        out.write(head + body)
