/** Reports after a run which tests were skipped, because of which missing program, and how that is installed. */
import { readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** What a file asks before it skips its tests, and what is missing then. */
const NEEDS: Readonly<Record<string, string>> = {
  hasBrowser: 'Chromium (on Debian: apt-get install chromium-headless-shell)',
  hasPostgres: 'PostgreSQL (on Debian: apt-get install postgresql)',
  hasClickHouse: 'the ClickHouse engine (npm run tools -- chdb)',
  hasFaults: 'the ClickHouse engine (npm run tools -- chdb)',
  hasPython: 'Python 3.9 or newer',
}
const OTHER = 'another program; the file names it'

/**
 * @param write - receives the lines, each with its line break
 * @param script - the npm script that runs, if any: `test` leaves out the slow kinds
 */
export function createSkipReporter(write: (text: string) => void, script?: string): Reporter {
  return {
    onTestRunEnd(modules) {
      const counts = new Map<string, number>()
      for (const testModule of modules) {
        const skipped = countSkipped(testModule)
        if (skipped === 0) continue
        const needs = needsOf(readFileSync(testModule.moduleId, 'utf8'))
        counts.set(needs, (counts.get(needs) ?? 0) + skipped)
      }
      for (const [needs, count] of [...counts].sort(([, left], [, right]) => right - left)) {
        write(`Skipped: ${count} ${count === 1 ? 'test needs' : 'tests need'} ${needs}\n`)
      }
      if (script === 'test') {
        write('Not run: tests with sockets, browsers and engines (npm run test:slow)\n')
      }
    },
  }
}

/** Tests that a condition of their file skips; not those that a name on the command line leaves out. */
function countSkipped(testModule: TestModule): number {
  return Array.from(testModule.children.allTests('skipped')).filter(
    ({ options }) => options.mode === 'skip',
  ).length
}

function needsOf(source: string): string {
  const names = Array.from(source.matchAll(/skipIf\(([^)]*)\)/g)).flatMap(([, condition = '']) =>
    Object.keys(NEEDS).filter((name) => condition.includes(name)),
  )
  return [...new Set(names.map((name) => NEEDS[name]))].join(' and ') || OTHER
}
