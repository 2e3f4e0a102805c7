import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import {
  FILES_DIRECTORY,
  type FileFolder,
  openFileFolder,
} from '../../../src/store/sqlite/files/file-folder.ts'
import { createMemoryFolder } from '../../../src/store/sqlite/files/memory-folder.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const FOLDERS: Readonly<Record<string, () => FileFolder>> = {
  'on the disk': () => openFileFolder(makeTempDir(), FILES_DIRECTORY),
  'in memory': () => createMemoryFolder(FILES_DIRECTORY),
}

describe.each(Object.keys(FOLDERS))('a folder of files %s', (name) => {
  const open = FOLDERS[name] as () => FileFolder

  async function write(folder: FileFolder, ...parts: readonly string[]) {
    const writer = await folder.openWriter()
    for (const part of parts) {
      const bytes = Buffer.from(part)
      await writer.write(bytes)
      bytes.fill(0)
    }
    await writer.finish()
    return writer
  }

  it('a file is where it was moved to last, also after its writer has finished', async () => {
    const folder = open()
    const [first, last] = [folder.pathOf('acme/demo', 'd1'), folder.pathOf('acme/demo', 'd2')]
    expect(first).not.toBe(last)
    const writer = await write(folder, 'on', 'e')
    expect(await folder.has(first)).toBe(false)
    await writer.moveTo(first)
    expect(await text(await folder.openReader(first))).toBe('one')
    await writer.moveTo(last)
    await writer.discard()
    expect([await folder.has(first), await folder.has(last)]).toEqual([false, true])
    expect(await text(await folder.openReader(last))).toBe('one')
  })

  it('discarded and removed files leave nothing', async () => {
    const folder = open()
    const path = folder.pathOf('acme/demo', 'd1')
    await (await write(folder, 'one')).discard()
    expect(await folder.sweep(() => false, new Set())).toBe(0)
    await (await write(folder, 'one')).moveTo(path)
    await folder.remove(path)
    await folder.remove(path)
    expect(await folder.has(path)).toBe(false)
    await expect(folder.openReader(path)).rejects.toThrow()
  })

  it('a sweep keeps used files and reports missing ones', async () => {
    const folder = open()
    const [used, unused, gone] = ['d1', 'd2', 'd3'].map((digest) => folder.pathOf('a/b', digest))
    for (const path of [used, unused]) await (await write(folder, 'one')).moveTo(path as string)
    const wanted = new Set([used as string, gone as string])
    expect(await folder.sweep((path) => path === used, wanted)).toBe(1)
    expect(await folder.has(used as string)).toBe(true)
    expect(await folder.has(unused as string)).toBe(false)
  })
})
