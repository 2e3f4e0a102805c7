/** The package as npm packs it, installed beside links to the packages that it names, and run through its bin. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { INHERITED } from '../support/inherited.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const run = promisify(execFile)
const KEY = 'wk_test_key_of_the_installed_server'
const TSC = 'node_modules/typescript/bin/tsc'
/** Bytes that the package may have unpacked, without the packages it needs. */
const BYTES_MAX = 10_000_000

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

let packed: Packed
/** The folder of the installed package. */
let root: string

const folder = mkdtempSync(join(tmpdir(), 'weft-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  const args = ['pack', '--json', '--loglevel=error', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { env: INHERITED, maxBuffer: 2 ** 24 })
  // npm 12 has an object by the names of packages.
  const report = JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as Record<string, Packed>
  packed = Object.values(report)[0]!
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', folder])
  root = join(folder, 'package')
  linkDependencies(root)
}, 120_000)

/** Links what an installation without development packages has: another import of the package fails. */
function linkDependencies(target: string): void {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; peer?: boolean }>
  }
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    if (dev || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue
    mkdirSync(dirname(join(target, path)), { recursive: true })
    symlinkSync(resolve(path), join(target, path))
  }
}

function environmentOf(home: string) {
  return {
    ...INHERITED,
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    NODE_COMPILE_CACHE: undefined,
    WEFT_PORT: '0',
  }
}

async function start(home: string, environment: Record<string, string> = {}) {
  const child: ChildProcess = spawn(process.execPath, [join(root, 'dist/weft.cjs')], {
    cwd: home,
    env: { ...environmentOf(home), WEFT_BOOTSTRAP_KEY: KEY, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const errors: string[] = []
  child.stderr?.on('data', (chunk) => errors.push(String(chunk)))
  const url = await new Promise<string>((done, fail) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
      if (found) done(found)
    })
    child.once('exit', () => fail(new Error(errors.join(''))))
  })
  return { child, url, errors }
}

async function weft(home: string, ...args: string[]) {
  return run(process.execPath, [join(root, 'dist/weft.cjs'), ...args], {
    cwd: home,
    env: environmentOf(home),
  })
}

function post(url: string, body: unknown, authorization: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

describe('the package', () => {
  it('has the compiled modules, what they read, the migrations, and nothing else', () => {
    const modules = globSync('src/**/*.ts').map((path) =>
      path.replace(/^src/, 'dist').replace(/\.ts$/, '.js'),
    )
    const assets = globSync('src/**/*.{cjs,css,gguf,html,svg}')
    const types = globSync('src/schemas/**/*.ts').map((path) => path.replace(/\.ts$/, '.d.ts'))
    const expected = [
      // The schemas import the codes of errors.
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'dist/errors.d.ts'],
      ...globSync('migrations/**/*.sql'),
      ...modules,
      ...[...assets, ...types].map((path) => path.replace(/^src/, 'dist')),
    ]
    expect(packed.files.map(({ path }) => path).sort()).toEqual(expected.sort())
    expect(packed.unpackedSize).toBeLessThan(BYTES_MAX)
    expect(packed.files.find(({ path }) => path === 'dist/weft.cjs')?.mode).toBe(0o755)
  })

  it('names no TypeScript module in its code', () => {
    const named = globSync(join(root, 'dist/**/*.js')).filter((path) =>
      /(?:from|import\(|new URL\()\s*['"`]\.[^'"`]*\.ts['"`]/.test(readFileSync(path, 'utf8')),
    )
    expect(named).toEqual([])
  })

  it('serves calls, the page and the built-in model, and ends on SIGTERM', async () => {
    const home = makeTempDir()
    const { child, url, errors } = await start(home)
    const basic = `Basic ${btoa(`api:${KEY}`)}`
    const call = { project_id: 'acme/demo', id: 'call-1' }
    const started = { ...call, op_name: 'answer', started_at: '2026-01-01T09:00:00Z' }
    const begun = { start: { ...started, attributes: {}, inputs: {} } }
    expect((await post(`${url}/call/start`, begun, basic)).status).toBe(200)
    const ended = { end: { ...call, ended_at: '2026-01-01T09:00:01Z' } }
    expect((await post(`${url}/call/end`, ended, basic)).status).toBe(200)
    const stats = {
      project_id: 'acme/demo',
      start: '2026-01-01T00:00:00Z',
      call_metrics: [{ metric: 'call_count' }],
    }
    expect(await (await post(`${url}/calls/stats`, stats, basic)).text()).toContain(
      '"sum_call_count":1',
    )

    const html = await (await fetch(url)).text()
    const [module = ''] = /\/assets\/\w+\/page-entry\.js/.exec(html) ?? []
    const asset = await fetch(url + module)
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await asset.text()).toContain("from './")
    for (const [path] of html.matchAll(/\/assets\/[\w./@-]+/g)) {
      expect((await fetch(url + path)).status).toBe(200)
    }

    const question = { messages: [{ role: 'user', content: 'What is 3 plus 4?' }], temperature: 0 }
    const completion = await post(`${url}/v1/chat/completions`, question, `Bearer ${KEY}`)
    expect(await completion.json()).toMatchObject({ choices: [{ finish_reason: 'stop' }] })

    // The flags of Node and its compile cache reached the process.
    expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).toContain('--expose-gc')
    expect(readFileSync(`/proc/${child.pid}/environ`, 'utf8')).toContain('MALLOC_ARENA_MAX=2')
    expect(readdirSync(join(home, 'data/weft'))).toContain('weft.db')
    expect(readdirSync(join(home, 'cache/weft'))).not.toEqual([])

    const { stdout } = await weft(home, 'keys', 'create', '--user', 'me')
    expect(stdout).toMatch(/wk_/)
    await expect(start(home)).rejects.toThrow(/is in use by the process \d+/)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(errors.join('')).toBe('')
    expect((await weft(home, 'backup', '--to', join(home, 'copy'))).stdout).toContain('all checked')
    expect((await weft(home, 'doctor')).stdout).toContain('ok    database: is up to date')
  })

  it('keeps its data where WEFT_DATA_DIR says', async () => {
    const home = makeTempDir()
    await start(home, { WEFT_DATA_DIR: join(home, 'own') })
    expect(readdirSync(home).sort()).toEqual(['cache', 'own'])
  })

  it('has the schemas, with their types', async () => {
    const load = "import { SCOPES } from 'weft-server/schemas/access/key'"
    const program = join(root, 'program.mts')
    writeFileSync(program, `${load}\nconst scope: 'admin' = SCOPES[0]\nconsole.log(SCOPES)\n`)
    const { stdout } = await run(process.execPath, [program])
    expect(stdout).toContain('traces:read')
    const flags = ['--noEmit', '--module', 'nodenext', '--types', 'node']
    const compiled = run(process.execPath, [resolve(TSC), ...flags, program], { cwd: root })
    // The type of the list is that of its values, and the only fault.
    await expect(compiled).rejects.toMatchObject({
      stdout: expect.stringMatching(/^program\.mts\(2,7\): error TS2322: .*"traces:read".*\n$/),
    })
  })
})
