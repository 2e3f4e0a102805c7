/** What every FileStore and ResponseStore must do, whatever they store in. */
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { StoredResponse } from '../../src/domain/chat/responses/responses-record.ts'
import { createBytesDigest } from '../../src/domain/objects/digests.ts'
import type { ResponseStore } from '../../src/store/api/chat/recordings.ts'
import type { FileStore, StoredFile } from '../../src/store/api/objects/tables.ts'

const SMALL = Buffer.from('a few bytes')
const CHUNK_BYTES = 40_000

/** More than a store would like to hold in memory. */
const LARGE = Buffer.alloc(
  300_000,
  Array.from({ length: 251 }, (_, at) => String.fromCharCode(at)).join(''),
  'latin1',
)

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

function digestOf(bytes: Buffer): string {
  const hash = createBytesDigest()
  hash.update(bytes)
  return hash.digest()
}

async function readFile(file: StoredFile | null): Promise<Buffer | null> {
  if (file === null) return null
  return Buffer.isBuffer(file.content) ? file.content : buffer(file.content)
}

async function keep(files: FileStore, projectId: string, bytes: Buffer): Promise<string> {
  const received = await files.receiveFile(inChunks(bytes))
  await received.keep(projectId)
  await received.discard()
  return received.digest
}

/** @param create - an empty store that closes itself when the test ends */
export function describeFileStoreContract(name: string, create: () => Promise<FileStore>): void {
  describe(`${name} keeps the FileStore contract`, () => {
    it.each([
      ['no bytes', Buffer.alloc(0)],
      ['few bytes', SMALL],
      ['many bytes', LARGE],
    ])('%s are returned by their digest', async (_title, bytes) => {
      const files = await create()
      const received = await files.receiveFile(inChunks(bytes))
      expect(received).toMatchObject({ digest: digestOf(bytes), size_bytes: bytes.length })
      await received.keep('acme/a')
      const found = await files.findFile('acme/a', received.digest)
      expect(found?.size_bytes).toBe(bytes.length)
      expect(bytes.equals((await readFile(found)) as Buffer)).toBe(true)
    })

    it.each([
      ['few bytes', SMALL, 2, 5],
      ['many bytes', LARGE, 0, 1],
      ['many bytes', LARGE, 65_000, 66_000],
      ['many bytes', LARGE, 65_536, 262_144],
      ['many bytes', LARGE, 262_143, 300_000],
    ])('a range of %s is read alone', async (_title, bytes, from, until) => {
      const files = await create()
      const digest = await keep(files, 'acme/a', bytes)
      const sizes: number[] = []
      const found = await files.findFile('acme/a', digest, (size) => {
        sizes.push(size)
        return { from, until }
      })
      expect(sizes).toEqual([bytes.length])
      expect(found).toMatchObject({ size_bytes: bytes.length, range: { from, until } })
      expect(bytes.subarray(from, until).equals((await readFile(found)) as Buffer)).toBe(true)
    })

    it('equal content is stored once per project, and not visible to another', async () => {
      const files = await create()
      for (const bytes of [SMALL, SMALL, LARGE, LARGE]) await keep(files, 'acme/a', bytes)
      expect(await files.sumFileBytes('acme/a')).toBe(SMALL.length + LARGE.length)
      expect(await files.findFile('acme/b', digestOf(SMALL))).toBeNull()
      expect(await files.findFile('acme/b', digestOf(LARGE))).toBeNull()
      expect(await files.sumFileBytes('acme/b')).toBe(0)
      await keep(files, 'acme/b', LARGE)
      expect(await files.sumFileBytes('acme/b')).toBe(LARGE.length)
    })

    it('a file in use is not removed on request', async () => {
      const files = await create()
      const digest = await keep(files, 'acme/a', LARGE)
      expect(await readFile(await files.findFile('acme/a', digest))).toHaveLength(LARGE.length)
    })

    it('unused files are removed, also the second time', async () => {
      const files = await create()
      const received = await files.receiveFile(inChunks(LARGE))
      await received.discard()
      await received.discard()
      expect(await files.findFile('acme/a', received.digest)).toBeNull()
      expect(await files.sumFileBytes('acme/a')).toBe(0)
    })

    it('an error of the source is rethrown, and nothing is stored', async () => {
      const files = await create()
      async function* breaking() {
        yield* inChunks(LARGE)
        throw new Error('the client has left')
      }
      await expect(files.receiveFile(breaking())).rejects.toThrow('the client has left')
      expect(await files.findFile('acme/a', digestOf(LARGE))).toBeNull()
    })
  })
}

function responseOf(id: string, fields: Partial<StoredResponse> = {}): StoredResponse {
  return {
    id,
    project_id: 'acme/a',
    key_id: 'k',
    created_at_us: 5,
    previous_response_id: null,
    response_json: '{"n":1.10}',
    input_json: '[]',
    ...fields,
  }
}

/** @param create - an empty store that closes itself when the test ends */
export function describeResponseStoreContract(
  name: string,
  create: () => Promise<ResponseStore>,
): void {
  describe(`${name} keeps the ResponseStore contract`, () => {
    it('a response is returned as it was inserted', async () => {
      const responses = await create()
      const alone = responseOf('resp_1', { project_id: null })
      const next = responseOf('resp_2', { previous_response_id: 'resp_1', input_json: '["ü"]' })
      await responses.insertResponse(alone)
      await responses.insertResponse(next)
      expect(await responses.findResponse('resp_1')).toEqual(alone)
      expect(await responses.findResponse('resp_2')).toEqual(next)
      expect(await responses.findResponse('resp_3')).toBeNull()
    })

    it('a response is deleted once, and its continuations remain', async () => {
      const responses = await create()
      const next = responseOf('resp_2', { previous_response_id: 'resp_1' })
      await responses.insertResponse(responseOf('resp_1'))
      await responses.insertResponse(next)
      expect(await responses.deleteResponse('resp_1')).toBe(true)
      expect(await responses.deleteResponse('resp_1')).toBe(false)
      expect(await responses.findResponse('resp_1')).toBeNull()
      expect(await responses.findResponse('resp_2')).toEqual(next)
    })
  })
}
