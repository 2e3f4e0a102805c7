import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SPEC_ROWS } from './spec-rows.ts'

const PAGE = readFileSync('docs/interface.md', 'utf8')

/** Number of a section to its text, without that of the sections below it. */
function readSections(page: string): Map<string, string> {
  const parts = page.split(/^#{2,3} (\d+(?:\.\d+)?)\.? /m).slice(1)
  return new Map(
    parts.flatMap((number, index) => (index % 2 === 0 ? [[number, parts[index + 1] ?? '']] : [])),
  )
}

/** Numbers of sections that the `Spec:` marks of a text name; those of other documents do not count. */
function marksOf(text: string): string[] {
  const sentences = [...text.matchAll(/Spec: ((?:(?!Choice:|\*\/|@)[\s\S])*)/g)]
  return sentences
    .filter(([, sentence]) => !/^\s*RFC/.test(sentence ?? ''))
    .flatMap(([, sentence]) => [...(sentence ?? '').matchAll(/§(\d+(?:\.\d+)?)/g)])
    .map(([, number]) => number ?? '')
}

describe('docs/interface.md', () => {
  const sections = readSections(PAGE)

  it('has the section that each Spec mark of the code points at', () => {
    const lost = globSync('src/**/*.ts').flatMap((path) =>
      marksOf(readFileSync(path, 'utf8'))
        .filter((number) => !sections.has(number))
        .map((number) => `${path}: §${number}`),
    )
    expect(lost).toEqual([])
  })

  it('would miss a section that is not there', () => {
    expect(marksOf('/** Spec: §2.12, §4.99. Choice: §7 is another thing. */')).toEqual([
      '2.12',
      '4.99',
    ])
    expect(marksOf('/** Spec: RFC 9562 §5.7. */')).toEqual([])
    expect(sections.has('4.99')).toBe(false)
  })

  it('names each row of the interface in its section', () => {
    const missing = SPEC_ROWS.filter((row) => {
      const [, number = '', rest = ''] = /^§([\d.]+) (.*)$/.exec(row) ?? []
      const section = sections.get(number) ?? ''
      const name = rest.split(' ').at(-1) ?? ''
      return /^[\w_]*_[\w_]*$/.test(name) && !section.includes(`\`${name}\``)
    })
    expect(missing).toEqual([])
  })
})
