import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { INHERITED } from '../support/inherited.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
}
/** Commands for users; the other scripts read their arguments in the same way. */
const TRIED = ['keys', 'backup', 'migrate', 'store:copy', 'demo']

const run = promisify(execFile)

/** The file that a script of package.json runs. */
function entryOf(name: string): string {
  return /\bnode .*?(\S+\.ts)/.exec(scripts[name] ?? '')?.[1] ?? ''
}

function start(name: string, argument: string) {
  const env = { ...INHERITED, WEFT_DATA_DIR: makeTempDir() }
  const done = run(process.execPath, [entryOf(name), argument], { env })
  return done.catch((error: { code: number; stdout: string; stderr: string }) => error)
}

describe('npm run', () => {
  it.each(TRIED)('%s -- --help tells the usage', async (name) => {
    const told = await start(name, '--help')
    expect(told).not.toHaveProperty('code')
    expect(told.stdout).toContain(`npm run ${name}`)
    expect(told.stdout).not.toMatch(/^ *\* |\/\*\*/m)
    expect(told.stderr).toBe('')
  })

  it.each(TRIED)('%s -- --nonsense tells the usage, and no line of code', async (name) => {
    const told = await start(name, '--nonsense')
    expect(told).toMatchObject({ code: 1, stdout: '' })
    expect(told.stderr).toContain(`npm run ${name}`)
    expect(told.stderr).not.toMatch(/^\s+at /m)
  })

  it('has no other script that reads its arguments itself', () => {
    const own = Object.keys(scripts)
      .map(entryOf)
      .filter((path) => /^(?:bench|examples|test)\//.test(path))
      .filter((path) => /\bprocess\.argv\b|\bparseArgs\b/.test(readFileSync(path, 'utf8')))
    expect(own).toEqual([])
  })
})
