/** The WebAssembly kernels against their sums written out, and against themselves with other company. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planMemory, type Rows } from '../../src/inference/tiny/model/simd-memory.ts'

/** Numbers of all signs, the same for the same seed. */
const waves = (count: number, seed: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898 + seed) * 2)
const whole = (min: number, max: number) => fc.integer({ min, max })

describe('the matrix product', () => {
  it('is the sum of products for any shape, and the same bits for each vector alone', () => {
    fc.assert(
      fc.property(whole(1, 70), whole(1, 50), whole(1, 7), whole(0, 99), (...numbers) => {
        const [rows, columns, tokens, seed] = numbers
        const plan = planMemory({ headSize: 4, stride: 4, context: 1 })
        const matrix = plan.matrix(rows, columns)
        const [x, out, alone] = [columns, rows, rows].map((width) => plan.rows(width, tokens))
        if (x === undefined || out === undefined || alone === undefined) throw new Error('no rows')
        const memory = plan.make()
        const weights = waves(rows * columns, seed)
        memory.pack(matrix, weights)
        const inputs = Array.from({ length: tokens }, (_, token) => waves(columns, seed + token))
        for (const [token, input] of inputs.entries()) {
          memory.floats.set(input, x.at + token * x.stride)
        }
        memory.multiply(out, x, matrix, tokens)
        const floatOf = ({ at, stride }: Rows, token: number, row: number) =>
          memory.floats[at + token * stride + row]!
        for (const [token, input] of inputs.entries()) {
          memory.multiply(
            { ...alone, at: alone.at + token * alone.stride },
            { ...x, at: x.at + token * x.stride },
            matrix,
            1,
          )
          for (let row = 0; row < rows; row++) {
            const sum = input.reduce((s, value, i) => s + value * weights[row * columns + i]!, 0)
            expect(floatOf(out, token, row)).toBeCloseTo(sum, 3)
            expect(floatOf(out, token, row)).toBe(floatOf(alone, token, row))
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('the activation', () => {
  it('is silu(gate) * up to the last bits, from tiny to huge gates', () => {
    const plan = planMemory({ headSize: 4, stride: 4, context: 1 })
    const gates = [-1e30, -200, -88.5, -87, -30, -1, -1e-6, 0, 1e-6, 0.5, 1, 17, 88, 90, 500, 1e30]
    const [gate, up] = [plan.rows(gates.length, 1), plan.rows(gates.length, 1)]
    const { floats, activate } = plan.make()
    floats.set(gates, gate.at)
    floats.fill(3, up.at, up.at + up.stride)
    activate(gate, up, 1)
    for (const [place, g] of gates.entries()) {
      const exact = (3 * g) / (1 + Math.exp(-g))
      const error = Math.abs(floats[gate.at + place]! - exact)
      expect(error).toBeLessThanOrEqual(Math.max(Math.abs(exact) * 1e-6, 1e-6))
    }
  })
})

describe('attention', () => {
  it('weighs the values by how well the keys fit, for any number of positions', () => {
    fc.assert(
      fc.property(whole(1, 40), fc.constantFrom(4, 12, 16, 20, 32), whole(0, 99), (...numbers) => {
        const [positions, headSize, seed] = numbers
        const stride = 2 * headSize
        const plan = planMemory({ headSize, stride, context: positions })
        const [query, out] = [plan.rows(headSize, 1), plan.rows(headSize, 1)]
        const [keys, values] = [plan.history(stride, positions), plan.history(stride, positions)]
        const { floats, attend } = plan.make()
        // What stands behind the last position must not count, whatever it is.
        floats.fill(1e30, keys.at)
        const [q, k, v] = [headSize, positions * stride, positions * stride].map((n, i) =>
          waves(n, seed + i),
        )
        if (q === undefined || k === undefined || v === undefined) throw new Error('no numbers')
        floats.set(q, query.at)
        floats.set(k, keys.at)
        floats.set(v, values.at)
        // The second of two heads.
        const [key, value] = [keys.at + headSize, values.at + headSize]
        attend({ out: out.at, query: query.at, keys: key, values: value, positions })
        const weights = Array.from({ length: positions }, (_, p) => {
          const score = q.reduce((sum, one, i) => sum + one * k[p * stride + headSize + i]!, 0)
          return Math.exp(score / Math.sqrt(headSize))
        })
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        for (let i = 0; i < headSize; i++) {
          const mixed = weights.reduce((s, w, p) => s + w * v[p * stride + headSize + i]!, 0)
          expect(floats[out.at + i]).toBeCloseTo(mixed / total, 4)
        }
      }),
      { numRuns: 60 },
    )
  })
})
