"""Byte-level BPE as GPT-2 does it: the byte map, the trainer and an encoder.

Knows nothing of chats or models. Digits never join, so every number is spelt digit by digit.
"""

import re
from collections import Counter

PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_map():
    """GPT-2's printable stand-in character for each byte."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table, spare = {}, 256
    for byte in range(256):
        if byte in keep:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(spare)
            spare += 1
    return table


BYTES = byte_map()


def spell(piece):
    return tuple(BYTES[b] for b in piece.encode("utf-8"))


def join(word, pair):
    """The word with each occurrence of the pair merged, from left to right."""
    out, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            out.append(word[i] + word[i + 1])
            i += 2
        else:
            out.append(word[i])
            i += 1
    return tuple(out)


def train(texts, merge_count):
    """The most frequent merges, in order. Ties go to the pair that sorts last, so runs are equal."""
    words = Counter(spell(p) for text in texts for p in PIECES.findall(text))
    merges = []
    while len(merges) < merge_count:
        pairs = Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                if not (pair[0][-1].isdigit() and pair[1][0].isdigit()):
                    pairs[pair] += count
        best = max(pairs, key=lambda p: (pairs[p], p))
        merges.append(best)
        merged = Counter()
        for word, count in words.items():
            merged[join(word, best)] += count
        words = merged
    return merges


class Encoder:
    """Text to ids with a cache of pieces."""

    def __init__(self, tokens, merges):
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.ranks = {pair: i for i, pair in enumerate(merges)}
        self.cache = {}

    def encode(self, text):
        out = []
        for piece in PIECES.findall(text):
            if piece not in self.cache:
                self.cache[piece] = self.piece(spell(piece))
            out += self.cache[piece]
        return out

    def piece(self, word):
        while len(word) > 1:
            best = min(zip(word, word[1:]), key=lambda p: self.ranks.get(p, 1 << 30))
            if best not in self.ranks:
                break
            word = join(word, best)
        return [self.ids[part] for part in word]
