import { expect, it } from 'vitest'
import {
  createRecordedPacker,
  unpackRecorded,
} from '../../../src/store/base/recordings/recordings.ts'
import { recordedCall } from './recordings-contract.ts'

const textOf = (length: number) => JSON.stringify('é€😀x'.repeat(length).slice(0, length))

it('recorded calls stay equal and in order over chunks and through a message', () => {
  const lengths = [0, 1, 50_000, 100_000, 700_000, 2, 0]
  const calls = lengths.map((length, at) =>
    recordedCall({ id: `c${at}` }, { inputs_json: '{}', output_json: textOf(length) }),
  )
  const packer = createRecordedPacker()
  for (const call of calls) packer.add(call)
  expect(packer.count()).toBe(calls.length)
  expect(packer.bytes()).toBeGreaterThan(1_000_000)
  const packed = packer.take()
  expect(packed.length).toBeGreaterThan(2)
  expect([...unpackRecorded(structuredClone(packed))]).toEqual(calls)
})

it('chunks that were taken do not change with later calls', () => {
  const packer = createRecordedPacker()
  packer.add(recordedCall({ id: 'first' }))
  const taken = packer.take()
  expect([packer.count(), packer.bytes()]).toEqual([0, 0])
  packer.add(recordedCall({ id: 'second' }))
  expect([...unpackRecorded(taken)].map(({ facts }) => facts.id)).toEqual(['first'])
  expect([...unpackRecorded(packer.take())].map(({ facts }) => facts.id)).toEqual(['second'])
  expect(packer.take()).toEqual([])
})
