import { expect, it } from 'vitest'
import { createCallPacker, unpackCalls } from '../../../src/store/base/recordings/packed-calls.ts'
import { recordedCall } from './recordings-contract.ts'

const textOf = (length: number) => JSON.stringify('é€😀x'.repeat(length).slice(0, length))

it('gives calls back as they were, in their order, over pieces and behind a message', () => {
  const lengths = [0, 1, 50_000, 100_000, 700_000, 2, 0]
  const calls = lengths.map((length, at) =>
    recordedCall({ id: `c${at}` }, { inputs_json: '{}', output_json: textOf(length) }),
  )
  const packer = createCallPacker()
  for (const call of calls) packer.add(call)
  expect(packer.count()).toBe(calls.length)
  expect(packer.bytes()).toBeGreaterThan(1_000_000)
  const packed = packer.take()
  expect(packed.length).toBeGreaterThan(2)
  expect([...unpackCalls(structuredClone(packed))]).toEqual(calls)
})

it('writes nothing more to what was taken', () => {
  const packer = createCallPacker()
  packer.add(recordedCall({ id: 'first' }))
  const taken = packer.take()
  expect([packer.count(), packer.bytes()]).toEqual([0, 0])
  packer.add(recordedCall({ id: 'second' }))
  expect([...unpackCalls(taken)].map(({ facts }) => facts.id)).toEqual(['first'])
  expect([...unpackCalls(packer.take())].map(({ facts }) => facts.id)).toEqual(['second'])
  expect(packer.take()).toEqual([])
})
