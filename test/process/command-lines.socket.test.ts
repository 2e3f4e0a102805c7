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

/** Makes Node tell every file that it loads. */
const LOADED_FILES = `--import=data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { console.error('loaded ' + url); return next(url, context) } })`,
)}`

function start(name: string, given: string, ...flags: string[]) {
  const env = { ...INHERITED, WEFT_DATA_DIR: makeTempDir() }
  const args = [...flags, entryOf(name), ...given.split(' ').filter(Boolean)]
  const done = run(process.execPath, args, { env })
  return done.catch((error: { code: number; stdout: string; stderr: string }) => error)
}

describe('npm run', () => {
  it.each(['start', ...TRIED.filter((name) => name !== 'demo')])(
    '%s ends with one line when Node is too old',
    async (name) => {
      const [, check = ''] = / --require=(\S+)/.exec(scripts[name] ?? '') ?? []
      const old = "Object.defineProperty(process, 'versions', { value: { node: '22.18.0' } })"
      const ended = await run(process.execPath, ['-e', `${old}; require('${check}')`]).catch(
        (error: unknown) => error,
      )
      const line = 'weft: this is Node 22.18.0; Node >=22.19 is needed\n'
      expect(ended).toMatchObject({ code: 1, stdout: '', stderr: line })
    },
  )

  it.each(TRIED.flatMap((name) => ['--help', '-h'].map((asked) => [name, asked] as const)))(
    '%s -- %s tells the usage',
    async (name, asked) => {
      const told = await start(name, asked)
      expect(told).not.toHaveProperty('code')
      expect(told.stdout).toContain(`npm run ${name}`)
      expect(told.stdout).not.toMatch(/^ *\* |\/\*\*/m)
      expect(told.stderr).toBe('')
    },
  )

  it.each(TRIED)('%s -- --nonsense tells the usage, and no line of code', async (name) => {
    const told = await start(name, '--nonsense')
    expect(told).toMatchObject({ code: 1, stdout: '' })
    expect(told.stderr).toContain(`npm run ${name}`)
    expect(told.stderr).not.toMatch(/^\s+at /m)
  })

  it.each(['keys', 'store:copy'])('%s loads no store to tell what is wrong', async (name) => {
    const told = await start(name, '--nonsense', LOADED_FILES)
    const loaded = (told.stderr.match(/^loaded .*/gm) ?? []).join('\n')
    expect(loaded).toContain('src/command-line.ts')
    expect(loaded).not.toMatch(/src\/deps\.ts|node_modules\/(?:pg|@clickhouse|undici)\//)
  })

  it.each([
    ['', '--from must be sqlite'],
    ['--from sqlite --to sqlite', '--to must be postgres or clickhouse'],
    ['--from sqlite --to postgres --project acme/demo', '--project needs --to clickhouse'],
  ])('store:copy -- %s names the argument that is wrong', async (given, message) => {
    const told = await start('store:copy', given)
    expect(told).toMatchObject({ code: 1 })
    expect(told.stderr).toContain(`weft: ${message}`)
  })

  it('torture -- --cycles x names what is no number', async () => {
    const told = await start('torture', '--cycles x')
    expect(told).toMatchObject({ code: 1, stdout: '' })
    expect(told.stderr).toMatch(/^"x" is not a number\n\n.*npm run torture/s)
  })

  it('has no other script that reads its arguments itself', () => {
    const own = Object.keys(scripts)
      .map(entryOf)
      .filter((path) => /^(?:bench|examples|test)\//.test(path))
      .filter((path) => path !== 'bench/run.ts')
      .filter((path) => /\bprocess\.argv\b|\bparseArgs\b/.test(readFileSync(path, 'utf8')))
    expect(own).toEqual([])
  })
})
