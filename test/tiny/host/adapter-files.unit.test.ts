import { existsSync, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError, type ErrorCode } from '../../../src/errors.ts'
import { createAdapterFiles } from '../../../src/inference/tiny/host/adapter-files.ts'

function openFiles() {
  const files = createAdapterFiles()
  onTestFinished(files.close)
  let opened = 0
  const adapter = (name: string, bytes = name.length) => ({
    sha256: name,
    bytes,
    open: async () => {
      opened += 1
      return Readable.from([Buffer.from(name)])
    },
  })
  /** The path that a request of the adapter gets, after its end. */
  const pathOf = async (name: string) => {
    let path = ''
    for await (const given of files.use(adapter(name), tell)) path = given ?? ''
    return path
  }
  return { files, adapter, pathOf, opened: () => opened }
}

async function* tell(path: string | null) {
  yield path
}

describe('the files of adapters', () => {
  it('are written once, hold the bytes and end with the backend', async () => {
    const { files, pathOf, opened } = openFiles()
    const [first, second] = await Promise.all([pathOf('one'), pathOf('one')])
    expect([second, opened()]).toEqual([first, 1])
    expect(readFileSync(first, 'utf8')).toBe('one')
    files.close()
    expect(existsSync(first)).toBe(false)
  })

  it('are none without an adapter', async () => {
    const { files } = openFiles()
    for await (const path of files.use(null, tell)) expect(path).toBeNull()
  })

  it('stay while they are needed, and of the others those that were asked for last', async () => {
    const { files, adapter, pathOf } = openFiles()
    const needed = files.use(adapter('needed'), tell)
    const { value: path } = await needed.next()
    const old = await pathOf('old')
    const paths: string[] = []
    for (let n = 0; n < 8; n += 1) paths.push(await pathOf(`other-${n}`))
    expect([path, old, ...paths].map((each) => existsSync(each ?? ''))).toEqual([
      ...[true, false, false],
      ...Array(7).fill(true),
    ])
    await needed.return()
    await pathOf('one-more')
    expect(existsSync(path ?? '')).toBe(false)
  })

  it('are refused when they are too large or gone, and asked for anew the next time', async () => {
    const { files, adapter, pathOf } = openFiles()
    const large = files.use(adapter('large', 268_435_457), tell).next()
    await expect(large).rejects.toMatchObject({ code: 'checkpoint_unusable', param: 'model' })
    const failing = (code: ErrorCode) => {
      const open = () => Promise.reject(new ApiError(code))
      return files.use({ sha256: 'x', bytes: 1, open }, tell).next()
    }
    const gone = failing('checkpoint_not_found')
    await expect(gone).rejects.toMatchObject({ code: 'model_not_found', param: 'model' })
    await expect(failing('store_unavailable')).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(readFileSync(await pathOf('x'), 'utf8')).toBe('x')
  })
})
