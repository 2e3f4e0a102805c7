import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventBytes } from '../../../src/inference/openai/file-response.ts'
import { createRedact } from '../../../src/inference/openai/upstream/redaction.ts'

const KEY = 'sk-upstream-0123456789abcdef'
const redact = createRedact(new URL('https://engine.test/v1'), KEY)

/** Reads a body that arrives in pieces; one to be read is never empty. */
async function readAll(body: Uint8Array, cuts: readonly number[]): Promise<Buffer> {
  const ends = [...cuts.map((cut) => cut % (body.length + 1)), body.length].sort((a, b) => a - b)
  let at = 0
  const waiting = ends.map((end) => {
    const piece = body.subarray(at, end)
    at = end
    return [piece]
  })
  const { read } = createEventBytes(async () => waiting.shift() ?? null, redact)
  const pieces: Uint8Array[] = []
  for (let found = await read(); found !== null; found = await read()) {
    expect(found.length).toBeGreaterThan(0)
    pieces.push(...found)
  }
  return Buffer.concat(pieces)
}

const failing = Buffer.from(`data: {"error":{"message":"bad key ${KEY} at engine.test"}}\n`)
const cleaned = Buffer.from('data: {"error":{"message":"bad key [key] at [address]"}}\n')
/** A line of any bytes, which need not be UTF-8. */
const plain = fc
  .uint8Array({ maxLength: 60 })
  .map((bytes) => Buffer.from([...bytes.filter((byte) => byte !== 0x0a), 0x0a]))

describe('events that pass as bytes', () => {
  it('keys in errors are removed from passed events however they are split, and nothing else', async () => {
    const lines = fc.array(fc.oneof(plain, fc.constant(failing)), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(lines, fc.array(fc.nat()), fc.boolean(), async (sent, cuts, isWhole) => {
        const wanted = sent.map((line) => (line === failing ? cleaned : line))
        const end = isWhole ? undefined : -1
        const read = await readAll(Buffer.concat(sent).subarray(0, end), cuts)
        expect(read).toEqual(Buffer.concat(wanted).subarray(0, end))
      }),
    )
  })

  it('usage is reported only where it is an object of an event', async () => {
    const deep = `data: {"usage":{"input_tokens":${'['.repeat(600)}1${']'.repeat(600)}}}\n`
    const lines = ['data: {"usage":null}\n', 'data: {"usage"\n', '{"usage":{"a":1}}\n', deep]
    const waiting = [...lines, 'data: {"usage":{"input_tokens":3}}'].map((line) => [
      Buffer.from(line),
    ])
    const events = createEventBytes(async () => waiting.shift() ?? null, redact)
    for (const _line of lines) {
      await events.read()
      expect(events.usage()).toBeNull()
    }
    await events.read()
    expect(events.usage()).toEqual({ input_tokens: 3 })
  })

  it('at most 64 KiB of a line are withheld', async () => {
    const audio = Buffer.alloc(200_000, 'A')
    let read = 0
    const { read: next } = createEventBytes(async () => {
      read += 50_000
      return [audio.subarray(read - 50_000, read)]
    }, redact)
    expect((await next())?.[0]).toHaveLength(100_000)
    expect(read).toBe(100_000)
  })
})
