import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { INHERITED } from '../support/inherited.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const { scripts, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  scripts: Record<string, string>
}
/** Scripts for users, each with the command of `weft` that it runs; the other scripts read their arguments likewise. */
const TRIED: Readonly<Record<string, string>> = {
  keys: 'keys',
  backup: 'backup',
  migrate: 'migrate',
  'store:copy': 'copy',
  demo: 'demo',
  doctor: 'doctor',
  export: 'export',
  import: 'import',
}
const COMMANDS = Object.values(TRIED)

const run = promisify(execFile)

/** The file of bench/ or test/ that a script of package.json runs. */
function entryOf(name: string): string {
  return /\bnode .*?(\S+\.ts)/.exec(scripts[name] ?? '')?.[1] ?? ''
}

/** Makes Node report every file that it loads. */
const LOADED_FILES = `--import=data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module'
  registerHooks({ load(url, context, next) { console.error('loaded ' + url); return next(url, context) } })`,
)}`

function start(args: readonly string[], ...flags: string[]) {
  const env = { ...INHERITED, WEFT_DATA_DIR: makeTempDir() }
  const done = run(process.execPath, [...flags, ...args], { env })
  return done.catch((error: { code: number; stdout: string; stderr: string }) => error)
}

function weft(given: string, ...flags: string[]) {
  return start(['src/weft.cjs', ...given.split(' ').filter(Boolean)], ...flags)
}

describe('weft', () => {
  it.each(['', ...COMMANDS])('%s ends with one line when Node is too old', async (command) => {
    const old = "Object.defineProperty(process, 'versions', { value: { node: '22.18.0' } })"
    const ended = await weft(command, `--import=data:text/javascript,${encodeURIComponent(old)}`)
    const line = 'weft: this is Node 22.18.0; Node >=22.19 is needed\n'
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: line })
  })

  it.each(Object.entries(TRIED))('is what npm run %s runs', (name, command) => {
    expect(scripts[name]).toBe(`node src/weft.cjs ${command}`)
  })

  it('--help lists all commands, and --version prints the version', async () => {
    const { stdout } = await weft('--help')
    for (const command of ['start', ...COMMANDS]) expect(stdout).toMatch(`\n  ${command} `)
    expect((await weft('--version')).stdout).toBe(`${version}\n`)
  })

  it.each([
    ['strat', 'there is no command "strat"'],
    ['--port', 'there is no option "--port"'],
    ['start --port=1', 'start takes no arguments'],
    ['toString', 'there is no command "toString"'],
  ])('%s is refused with what exists', async (given, message) => {
    const output = await weft(given)
    expect(output).toMatchObject({ code: 1, stdout: '' })
    expect(output.stderr).toMatch(`weft: ${message}\n`)
    expect(output.stderr).toContain('usage: weft')
  })

  it.each(['start', ...COMMANDS].flatMap((name) => ['--help', '-h'].map((given) => [name, given])))(
    '%s %s prints the usage',
    async (name, given) => {
      const output = await weft(`${name} ${given}`)
      expect(output).not.toHaveProperty('code')
      expect(output.stdout).toContain(`weft ${name}`)
      expect(output.stderr).toBe('')
    },
  )

  it.each(COMMANDS)('%s --nonsense prints the usage, and no line of code', async (name) => {
    const output = await weft(`${name} --nonsense`)
    expect(output).toMatchObject({ code: 1, stdout: '' })
    expect(output.stderr).toContain(`weft ${name}`)
    expect(output.stderr).not.toMatch(/^\s+at /m)
  })

  it.each(['keys', 'copy'])('%s loads no store to report what is wrong', async (name) => {
    const output = await weft(`${name} --nonsense`, LOADED_FILES)
    const loaded = (output.stderr.match(/^loaded .*/gm) ?? []).join('\n')
    expect(loaded).toContain('src/command-line.ts')
    expect(loaded).not.toMatch(/src\/deps\.ts|node_modules\/(?:pg|@clickhouse|undici)\//)
  })

  it.each([
    ['', '--from must be sqlite'],
    ['--from sqlite --to sqlite', '--to must be postgres or clickhouse'],
    ['--from sqlite --to postgres --project acme/demo', '--project needs --to clickhouse'],
  ])('copy %s names the argument that is wrong', async (given, message) => {
    const output = await weft(`copy ${given}`)
    expect(output).toMatchObject({ code: 1 })
    expect(output.stderr).toContain(`weft: ${message}`)
  })
})

describe('npm run', () => {
  it('torture -- --cycles x names what is no number', async () => {
    const output = await start([entryOf('torture'), '--cycles', 'x'])
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
