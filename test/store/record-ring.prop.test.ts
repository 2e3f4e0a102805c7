import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecordedBytes, RecordedCall } from '../../src/domain/calls/recorded-call.ts'
import {
  createRingWriter,
  openRingReader,
  type RingBatch,
} from '../../src/store/sqlite/recordings/record-ring.ts'
import { recordedCall } from './recordings-contract.ts'

const KB = 1024

/** Sizes in KB: many fit, some fill the ring soon, some never fit. */
const call = fc
  .record({
    id: fc.string({ unit: 'grapheme' }),
    letter: fc.constantFrom('a', 'é', '€', '😀'),
    inputsKb: fc.integer({ min: 0, max: 40 }),
    outputKb: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constant(400)),
  })
  .map(({ id, letter, inputsKb, outputKb }) =>
    recordedCall(
      { id },
      { inputs_json: letter.repeat(inputsKb * KB), output_json: letter.repeat(outputKb * KB) },
    ),
  )

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), call }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take' as const), count: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
)

function toTexts({ facts, inputs, output }: RecordedBytes): RecordedCall {
  return { facts, inputs_json: inputs.toString(), output_json: output.toString() }
}

describe('the ring of recorded calls', () => {
  it('gives what it took, once, in order, whatever is released when', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const writer = createRingWriter()
        const reader = openRingReader(writer.memory)
        const taken: RecordedCall[] = []
        const given: RecordedCall[] = []
        const batches: RingBatch[] = []
        let releasedCount = 0
        const take = (count: number) => {
          const batch = reader.take(count, Number.POSITIVE_INFINITY)
          // Now: what they stand in is free once they are released.
          given.push(...batch.calls.map(toTexts))
          batches.push(batch)
        }
        const release = () => {
          const batch = batches.shift()
          if (batch === undefined) return
          reader.release(batch)
          releasedCount += batch.calls.length
        }
        for (const drawn of steps) {
          if (drawn.kind === 'add') {
            if (writer.add(drawn.call) > 0) taken.push(drawn.call)
          } else if (drawn.kind === 'take') take(drawn.count)
          else release()
          expect(writer.waitingCount()).toBe(taken.length - releasedCount)
        }
        take(Number.POSITIVE_INFINITY)
        while (batches.length > 0) release()
        expect(given).toEqual(taken)
        expect(writer.waitingCount()).toBe(0)
      }),
      { numRuns: 60 },
    )
  })

  it('is full at some time, and takes calls again when some were released', () => {
    const writer = createRingWriter()
    const reader = openRingReader(writer.memory)
    const large = recordedCall({}, { output_json: 'x'.repeat(250 * KB) })
    let count = 0
    while (writer.add(large) > 0) count += 1
    expect(count).toBeGreaterThan(10)
    reader.release(reader.take(4, Number.POSITIVE_INFINITY))
    expect(writer.add(large)).toBeGreaterThan(0)
    expect(writer.waitingCount()).toBe(count - 3)
  })

  it('takes no call that would fill a good part of it', () => {
    const huge = recordedCall({}, { output_json: 'x'.repeat(KB * KB) })
    expect(createRingWriter().add(huge)).toBe(0)
  })

  it('gives no more calls than have the bytes that are asked for', () => {
    const writer = createRingWriter()
    const small = recordedCall({}, { output_json: 'x'.repeat(KB) })
    for (let n = 0; n < 10; n++) writer.add(small)
    expect(openRingReader(writer.memory).take(10, 4 * KB).calls.length).toBeLessThan(5)
  })
})
