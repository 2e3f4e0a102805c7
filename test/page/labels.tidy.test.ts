import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The text of a label, or of the component that writes it; behind a box that is checked, if there is one. */
const LABELS = [
  /<label[^>]*>\s*(?:<input type="(?:checkbox|radio)"[^\n]*?\/>\s*)?([^\s<$]+)/g,
  /<\$\{(?:Check|Choice|Field)\}[^>]* label="([^"]+)"/g,
]
/** Fields that are named as requests name them. */
const PARAMETERS: readonly string[] = ['temperature', 'max_tokens']

it('the labels of all forms begin with a capital, but for the names of parameters', () => {
  const labels = globSync('src/page/**/*.ts').flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    return LABELS.flatMap((label) => [...text.matchAll(label)].map(([, words = '']) => words))
  })
  expect(labels.length).toBeGreaterThan(50)
  const lower = labels.filter((words) => /^[a-z]/.test(words) && !PARAMETERS.includes(words))
  expect(lower).toEqual([])
})
