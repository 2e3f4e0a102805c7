import { describe, expect, it } from 'vitest'
import { createFilePins } from '../../../src/store/sqlite/files/file-pins.ts'
import { createMemoryFolder } from '../../../src/store/sqlite/files/memory-folder.ts'

async function fill() {
  const hold = createFilePins()
  const folder = hold.over(createMemoryFolder('files'))
  const put = async (path: string) => {
    const writer = await folder.openWriter()
    await writer.write(Buffer.from('bytes'))
    await writer.finish()
    await writer.moveTo(path)
  }
  await put('a')
  await put('b')
  return { hold, folder, put }
}

describe('pinned files', () => {
  it('pinned files remain until the last pin is released', async () => {
    const { hold, folder } = await fill()
    const [first, second] = [hold.begin(), hold.begin()]
    await folder.remove('a')
    await first()
    expect(await folder.has('a')).toBe(true)
    await second()
    expect([await folder.has('a'), await folder.has('b')]).toEqual([false, true])
    await folder.remove('b')
    expect(await folder.has('b')).toBe(false)
  })

  it('a pinned file that is uploaded again meanwhile remains', async () => {
    const { hold, folder, put } = await fill()
    const end = hold.begin()
    await folder.remove('a')
    await put('a')
    await end()
    expect(await folder.has('a')).toBe(true)
  })
})
