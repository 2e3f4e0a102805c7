import { expect, it } from 'vitest'
import { escapedBytes, renderToolList, TEXT_BYTES_MAX } from '../../src/domain/mcp/tool-text.ts'

it('a list has at most 100,000 bytes as escaped, its frame and the hint to read on included', async () => {
  const empty = escapedBytes(JSON.stringify({ q: '' }))
  const item = { q: 'x'.repeat(25_000 - empty) }
  async function* items() {
    for (;;) yield item
  }
  const text = await renderToolList({ field: 'prompts', offset: 0, limit: 500 }, items())
  expect(escapedBytes(text)).toBeLessThanOrEqual(TEXT_BYTES_MAX)
  expect(JSON.parse(text).next).toContain('read on with offset 3')
})
