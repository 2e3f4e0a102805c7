"""A llama transformer in torch: RMSNorm, interleaved RoPE pairs, grouped queries, SwiGLU, tied output.

The pairs of RoPE lie side by side, as GGUF's llama wants them, so an export needs no permutation.
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Shape:
    vocab: int = 640
    dim: int = 128
    layers: int = 3
    heads: int = 4
    kv_heads: int = 2
    ff: int = 272
    context: int = 2048
    rope_base: float = 10000.0
    eps: float = 1e-5


class Norm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotate(x, cos, sin):
    """x: batch, heads, time, head size. Turns the pairs (0,1), (2,3), ... by the position's angles."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s, self.size = s, s.dim // s.heads
        self.attn_norm, self.ffn_norm = Norm(s.dim, s.eps), Norm(s.dim, s.eps)
        self.attn_q = nn.Linear(s.dim, s.heads * self.size, bias=False)
        self.attn_k = nn.Linear(s.dim, s.kv_heads * self.size, bias=False)
        self.attn_v = nn.Linear(s.dim, s.kv_heads * self.size, bias=False)
        self.attn_output = nn.Linear(s.heads * self.size, s.dim, bias=False)
        self.ffn_gate = nn.Linear(s.dim, s.ff, bias=False)
        self.ffn_up = nn.Linear(s.dim, s.ff, bias=False)
        self.ffn_down = nn.Linear(s.ff, s.dim, bias=False)

    def forward(self, x, cos, sin, mask):
        s, (batch, time, _) = self.s, x.shape
        h = self.attn_norm(x)
        q = self.attn_q(h).view(batch, time, s.heads, self.size).transpose(1, 2)
        k = self.attn_k(h).view(batch, time, s.kv_heads, self.size).transpose(1, 2)
        v = self.attn_v(h).view(batch, time, s.kv_heads, self.size).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k = k.repeat_interleave(s.heads // s.kv_heads, 1)
        v = v.repeat_interleave(s.heads // s.kv_heads, 1)
        scores = q @ k.transpose(2, 3) * self.size**-0.5 + mask
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, time, -1)
        x = x + self.attn_output(mixed)
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Llama(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.token_embd = nn.Embedding(s.vocab, s.dim)
        self.blk = nn.ModuleList(Block(s) for _ in range(s.layers))
        self.output_norm = Norm(s.dim, s.eps)
        for name, p in self.named_parameters():
            if p.ndim == 2:
                deep = name.endswith(("attn_output.weight", "ffn_down.weight"))
                nn.init.normal_(p, std=0.04 / (2 * s.layers) ** 0.5 if deep else 0.04)
        size = s.dim // s.heads
        rates = s.rope_base ** (-torch.arange(0, size, 2).float() / size)
        angles = torch.outer(torch.arange(s.context).float(), rates)
        self.cos, self.sin = angles.cos(), angles.sin()

    def forward(self, ids):
        """ids: batch, time. Answers logits: batch, time, vocab."""
        time = ids.shape[1]
        mask = torch.full((time, time), float("-inf")).triu(1)
        x = self.token_embd(ids)
        for block in self.blk:
            x = block(x, self.cos[:time], self.sin[:time], mask)
        return self.output_norm(x) @ self.token_embd.weight.T
