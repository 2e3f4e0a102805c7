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

/** Makes Node report every file that it loads. */
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
    '%s -- %s prints the usage',
    async (name, asked) => {
      const output = await start(name, asked)
      expect(output).not.toHaveProperty('code')
      expect(output.stdout).toContain(`npm run ${name}`)
      expect(output.stdout).not.toMatch(/^ *\* |\/\*\*/m)
      expect(output.stderr).toBe('')
    },
  )

  it.each(TRIED)('%s -- --nonsense prints the usage, and no line of code', async (name) => {
    const output = await start(name, '--nonsense')
    expect(output).toMatchObject({ code: 1, stdout: '' })
    expect(output.stderr).toContain(`npm run ${name}`)
    expect(output.stderr).not.toMatch(/^\s+at /m)
  })

  it.each(['keys', 'store:copy'])('%s loads no store to report what is wrong', async (name) => {
    const output = await start(name, '--nonsense', LOADED_FILES)
    const loaded = (output.stderr.match(/^loaded .*/gm) ?? []).join('\n')
    expect(loaded).toContain('src/command-line.ts')
    expect(loaded).not.toMatch(/src\/deps\.ts|node_modules\/(?:pg|@clickhouse|undici)\//)
  })

  it.each([
    ['', '--from must be sqlite'],
    ['--from sqlite --to sqlite', '--to must be postgres or clickhouse'],
    ['--from sqlite --to postgres --project acme/demo', '--project needs --to clickhouse'],
  ])('store:copy -- %s names the argument that is wrong', async (given, message) => {
    const output = await start('store:copy', given)
    expect(output).toMatchObject({ code: 1 })
    expect(output.stderr).toContain(`weft: ${message}`)
  })

  it('torture -- --cycles x names what is no number', async () => {
    const output = await start('torture', '--cycles x')
    expect(output).toMatchObject({ code: 1, stdout: '' })
    expect(output.stderr).toMatch(/^"x" is not a number\n\n.*npm run torture/s)
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
