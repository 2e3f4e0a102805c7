import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { TestModule } from 'vitest/node'
import { createSkipReporter } from '../support/skip-reporter.ts'
import { makeTempDir } from '../support/temp-dir.ts'

it('reports the skipped tests by the program that they need, most first', () => {
  const folder = makeTempDir()
  const moduleOf = (name: string, source: string, modes: string[]) => {
    const moduleId = join(folder, name)
    writeFileSync(moduleId, source)
    const tests = modes.map((mode) => ({ options: { mode } }))
    return { moduleId, children: { allTests: () => tests } } as unknown as TestModule
  }
  const lines: string[] = []
  const reporter = createSkipReporter((text) => lines.push(text))
  const modules = [
    moduleOf('a.ts', 'describe.skipIf(!hasPython)()', ['skip']),
    moduleOf('b.ts', 'describe.skipIf(!hasBrowser)()', ['skip', 'skip', 'run']),
    moduleOf('c.ts', 'it.skipIf(!hasBrowser)()', ['skip']),
    moduleOf('d.ts', 'it.skipIf(!hasPython)()', ['run']),
  ]
  void reporter.onTestRunEnd?.(modules, [], 'passed')
  expect(lines).toEqual([
    'Skipped: 3 tests need Chromium (on Debian: apt-get install chromium-headless-shell)\n',
    'Skipped: 1 test needs Python 3.9 or newer\n',
  ])
})
