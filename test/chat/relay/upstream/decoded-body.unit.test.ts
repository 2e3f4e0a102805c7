import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeBody } from '../../../../src/inference/openai/upstream/decoded-body.ts'

async function* bodyOf(...pieces: Uint8Array[]) {
  yield* pieces
}

async function readAll(pieces: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = []
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) read.push(next.value)
  return Buffer.concat(read)
}

describe('the body of an answer', () => {
  it.each(['', 'identity', ' Identity , '])('with coding %j is the body itself', (coding) => {
    const body = bodyOf()
    expect(decodeBody(body, coding)).toBe(body)
  })

  it.each(['compress', 'gzip, zip', 'gzip, gzip, gzip', 'toString', '*'])(
    'with coding %j cannot be read',
    (coding) => {
      expect(decodeBody(bodyOf(), coding)).toBeNull()
    },
  )

  it('may have several members', async () => {
    const body = bodyOf(gzipSync('one '), gzipSync('two'))
    expect(String(await readAll(decodeBody(body, 'gzip')!))).toBe('one two')
  })

  it('is bounded by what it becomes, not by what it was', async () => {
    const zeros = gzipSync(Buffer.alloc(1_000))
    const read = (bytesMax: number) =>
      readAll(decodeBody(bodyOf(zeros), 'gzip', { bytesMax }) as AsyncIterator<Uint8Array>)
    expect(await read(1_000)).toHaveLength(1_000)
    await expect(read(999)).rejects.toMatchObject({ code: 'upstream_invalid_response' })
  })

  it('that fails throws what the body throws', async () => {
    async function* broken() {
      yield gzipSync('x').subarray(0, 5)
      throw new Error('cut')
    }
    await expect(readAll(decodeBody(broken(), 'gzip')!)).rejects.toThrow('cut')
  })
})
