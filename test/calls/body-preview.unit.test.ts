import { describe, expect, it } from 'vitest'
import { previewBody } from '../../src/domain/calls/body-preview.ts'

function preview(value: unknown, ...paths: string[][]): unknown {
  const text = previewBody(JSON.stringify(value), paths)
  expect(text.length).toBeLessThanOrEqual(8192)
  return JSON.parse(text)
}

const LONG = 'x'.repeat(100_000)

describe('the preview of a body', () => {
  it('is the body itself where that is short, with all of its digits', () => {
    const body = '{"a": 1.50, "b": 12345678901234567890}'
    expect(previewBody(body, [])).toBe(body)
    expect(previewBody(`{"a":12345678901234567890,"b":"${LONG}"}`, [])).toContain(
      '"a":12345678901234567890',
    )
  })

  it('has the beginnings of long texts, without half of a character', () => {
    expect(preview(LONG)).toBe(`${LONG.slice(0, 400)}…`)
    const text = `x${'😀'.repeat(10_000)}`
    expect(preview({ text })).toEqual({ text: `x${'😀'.repeat(199)}…` })
  })

  it('has the first and the last messages of a long chat', () => {
    const messages = Array.from({ length: 1000 }, (_, at) => ({
      role: 'user',
      content: `${at} ${LONG.slice(0, 900)}`,
    }))
    const shown = preview({ model: 'm', messages }) as { messages: { content: string }[] }
    expect(shown.messages[0]?.content).toMatch(/^0 x/)
    expect(shown.messages.at(-1)?.content).toMatch(/^999 x/)
  })

  it('leaves the values of paths where they are', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`key-${at}`, LONG.slice(0, 50)]),
    )
    const list = Array.from({ length: 100 }, (_, at) => ({ at, text: LONG.slice(0, 200) }))
    const shown = preview({ many, list }, ['many', 'key-999'], ['list', '50', 'at'])
    expect(shown).toMatchObject({ many: { 'key-999': expect.stringMatching(/^x/) } })
    expect((shown as { list: object[] }).list[50]).toMatchObject({ at: 50 })
  })

  it('leaves no positions after the last one that a path names, however long the list is', () => {
    const list = Array.from({ length: 5000 }, (_, at) => ({ at }))
    for (const path of [['0', 'at'], ['100'], ['5000'], ['name']]) {
      const shown = preview({ list }, ['list', ...path]) as { list: object[] }
      expect(shown.list.slice(0, 2)).toEqual(list.slice(0, 2))
      expect(shown.list.at(-1)).toEqual({ at: 4999 })
    }
    const { list: shown } = preview({ list }, ['list', '100', 'at']) as { list: object[] }
    expect(shown[100]).toEqual({ at: 100 })
    expect(shown.length).toBeLessThan(200)
  })

  it('is empty where even the shortest one is too long, and bounded in depth', () => {
    let deep: unknown = 'end'
    for (let at = 0; at < 1000; at++) deep = { deep, text: LONG.slice(0, 10) }
    expect(JSON.stringify(preview(deep))).not.toContain('end')
    const bushy = (level: number): unknown =>
      level === 0 ? 'leaf' : Array.from({ length: 4 }, () => bushy(level - 1))
    const names = Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`${at}`, { a: bushy(4), b: bushy(4), c: bushy(4) }]),
    )
    const all = Array.from({ length: 16 }, (_, at) => [`n${at}`, names])
    expect(preview(Object.fromEntries(all))).toEqual({})
  })
})
