/** The loops of the forward pass compared with plain sums, and with themselves on other batches. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attend } from '../../../src/inference/tiny/model/attention.ts'
import { activate } from '../../../src/inference/tiny/model/layer-math.ts'
import { multiply } from '../../../src/inference/tiny/model/matrix.ts'

/** Numbers of all signs, the same for the same seed. */
const waves = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898 + seed) * 2)
const whole = (min: number, max: number) => fc.integer({ min, max })

describe('the matrix product', () => {
  it('is the sum of products for any shape, and the same bits for each vector alone', () => {
    fc.assert(
      fc.property(whole(1, 70), whole(1, 50), whole(1, 7), whole(0, 99), (...numbers) => {
        const [rows, columns, tokens, seed] = numbers
        const matrix = waves(rows * columns, seed)
        const x = waves(tokens * columns, seed + 1)
        const out = new Float32Array(tokens * rows)
        multiply(out, x, matrix, rows, columns, tokens)
        const alone = new Float32Array(rows)
        for (let token = 0; token < tokens; token++) {
          const input = x.subarray(token * columns, (token + 1) * columns)
          multiply(alone, input, matrix, rows, columns, 1)
          expect(out.subarray(token * rows, (token + 1) * rows)).toEqual(alone)
          for (let row = 0; row < rows; row++) {
            const sum = input.reduce((s, value, i) => s + value * matrix[row * columns + i]!, 0)
            expect(alone[row]).toBeCloseTo(sum, 3)
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('the activation', () => {
  it('is silu(gate) * up to the last bits, from tiny to huge gates', () => {
    const gates = [-1e30, -200, -88.5, -87, -30, -1, -1e-6, 0, 1e-6, 0.5, 1, 17, 88, 90, 500, 1e30]
    const gate = Float32Array.from(gates)
    const out = new Float32Array(gates.length)
    activate(out, gate, new Float32Array(gates.length).fill(3), gates.length)
    for (const [place, g] of gates.entries()) {
      const exact = (3 * g) / (1 + Math.exp(-g))
      const error = Math.abs(out[place]! - exact)
      expect(error).toBeLessThanOrEqual(Math.max(Math.abs(exact) * 1e-6, 1e-6))
    }
  })
})

describe('attention', () => {
  it('weighs the values by how well the keys fit, for any number of positions', () => {
    fc.assert(
      fc.property(whole(1, 40), fc.constantFrom(4, 12, 16, 20, 32), whole(0, 99), (...numbers) => {
        const [positions, size, seed] = numbers
        // Two heads with a key each, and more positions behind the last one, which must not count.
        const sizes = { size, queries: 2 * size, keys: 2 * size, group: 1 }
        const query = waves(2 * size, seed)
        const keys = waves((positions + 3) * 2 * size, seed + 1)
        const values = waves((positions + 3) * 2 * size, seed + 2)
        keys.fill(1e30, positions * 2 * size)
        const out = new Float32Array(2 * size)
        const seen = { before: positions, start: positions, count: positions }
        attend(out, query, 0, { keys, values }, sizes, seen, new Float32Array(positions))
        for (const from of [0, size]) {
          const weights = Array.from({ length: positions }, (_, p) => {
            let score = 0
            for (let i = from; i < from + size; i++) score += query[i]! * keys[p * 2 * size + i]!
            return Math.exp(score / Math.sqrt(size))
          })
          const total = weights.reduce((sum, weight) => sum + weight, 0)
          for (let i = from; i < from + size; i++) {
            const mixed = weights.reduce((s, w, p) => s + w * values[p * 2 * size + i]!, 0)
            expect(out[i]).toBeCloseTo(mixed / total, 4)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
