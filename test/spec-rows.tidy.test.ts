import { execFile } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { SPEC_ROWS } from './spec-rows.ts'
import { makeTempDir } from './support/temp-dir.ts'

/** Files whose titles can name a row: to collect the tests of all others would only take time. */
const FILES = globSync('test/**/*.test.ts')
  .filter((path) => !path.endsWith('.tidy.test.ts'))
  .filter((path) => /§|spec-rows/.test(readFileSync(path, 'utf8')))

/** All kinds in one process, which loads the server once. */
const CONFIG =
  'export default { test: { isolate: false, maxWorkers: 1, experimental: { viteModuleRunner: false } } }'

/** The full titles of all tests, tables written out. */
async function listTitles(): Promise<string[]> {
  const folder = makeTempDir()
  const file = join(folder, 'titles.json')
  const config = join(folder, 'vitest.config.mjs')
  writeFileSync(config, CONFIG)
  await promisify(execFile)(process.execPath, [
    'node_modules/vitest/vitest.mjs',
    'list',
    '--no-static-parse',
    '--root=.',
    `--config=${config}`,
    `--json=${file}`,
    ...FILES,
  ])
  const tests = JSON.parse(readFileSync(file, 'utf8')) as { name: string }[]
  return tests.map(({ name }) => name)
}

/** Whether a title names the row, and not only one that begins like it. */
function isNamed(row: string, titles: readonly string[]): boolean {
  return titles.some((title) => {
    const at = title.indexOf(row)
    return at !== -1 && !/^[\w.]*\w/.test(title.slice(at + row.length))
  })
}

describe('the rows of the interface', () => {
  it('each stand in the title of a test', async () => {
    const titles = await listTitles()
    expect(SPEC_ROWS.filter((row) => !isNamed(row, titles))).toEqual([])
  }, 120_000)

  it('would be missed: a row that no test names, or only a longer one', () => {
    const titles = ['POST /x > stores §2.2 payload_schema', 'answers §2.3 id, again']
    expect(isNamed('§2.2 payload', titles)).toBe(false)
    expect(isNamed('§2.3 id', titles)).toBe(true)
  })

  it('are listed once', () => {
    expect(new Set(SPEC_ROWS).size).toBe(SPEC_ROWS.length)
  })
})
