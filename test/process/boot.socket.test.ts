import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openDeps } from '../../src/deps.ts'
import { openSqliteKeys } from '../../src/store/sqlite/open.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { INHERITED } from '../support/inherited.ts'
import {
  runUntilExit,
  type SpawnedServer,
  spawnServer,
  startServer,
  TEST_KEY,
} from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Gives `localhost` two addresses in the callback API of DNS, which Fastify and `listen` of Node read. */
const TWO_ADDRESSES = `import dns from 'node:dns'
const { lookup } = dns
const found = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
dns.lookup = (host, options, done) => {
  if (host !== 'localhost') lookup(host, options, done)
  else if (options.all) done(null, found)
  else done(null, found[0].address, 4)
}`

const READ = { project_id: 'acme/demo', id: 'nothing' }

async function readWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/call/read`, {
    method: 'POST',
    headers: { authorization: basic(key), 'content-type': 'application/json' },
    body: JSON.stringify(READ),
  })
  return response.status
}

/** Why a start fails: all that the process does about it is to write the message behind its name. */
async function failureOf(environment: Record<string, string>): Promise<Error> {
  const opening = openDeps(readConfig(environment))
  return await opening.then(
    () => new Error('it started'),
    (error: Error) => error,
  )
}

function messagesOf(stdout: string): string[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).msg)
}

describe('npm start', () => {
  it('logs a line before it opens its stores, and one before migrations', async () => {
    const dataDir = makeTempDir()
    const start = async () => {
      const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
      await server.stop()
      return server.output().stdout
    }
    const first = await start()
    expect(messagesOf(first).slice(0, 2)).toEqual(['starting', 'applying migrations'])
    const [line = '', migrating = ''] = first.split('\n')
    expect(JSON.parse(line)).toMatchObject({
      level: 30,
      data_dir: dataDir,
      pid: expect.any(Number),
    })
    expect(JSON.parse(migrating)).toMatchObject({ store: 'sqlite', migrations: expect.any(Number) })
    expect(messagesOf(await start())).not.toContain('applying migrations')
  })

  it('makes the data directory, prints one key once, and the key works', async () => {
    const dataDir = join(makeTempDir(), 'a', 'b')
    const first = await spawnServer({ WEFT_DATA_DIR: dataDir, WEFT_BOOTSTRAP_KEY: '' })
    await expect.poll(() => first.output().stderr).toMatch(/wk_/)
    const [key] = /wk_[\w-]{43}/.exec(first.output().stderr) ?? []
    expect(existsSync(join(dataDir, 'weft.db'))).toBe(true)
    expect(await readWith(first.url, key ?? '')).toBe(404)
    await first.stop()
    expect(first.output().stdout).not.toContain('wk_')

    const second = await spawnServer({ WEFT_DATA_DIR: dataDir, WEFT_BOOTSTRAP_KEY: '' })
    expect(await readWith(second.url, key ?? '')).toBe(404)
    await second.stop()
    expect(second.output().stderr).not.toContain('wk_')
  })

  it.each([
    [
      'a wrong variable',
      { WEFT_PORT: '8080\r' },
      /^weft: WEFT_PORT must be a whole number from 0 to 65535, not "8080\\r"$/,
    ],
    ['a misspelled variable', { WEFT_PROT: '1' }, /^weft: WEFT_PROT is not a Weft variable/],
  ])('ends with one clear line for %s', async (_, environment, line) => {
    const { code, stderr, stdout } = await runUntilExit(environment)
    expect(code).toBe(1)
    expect(stderr.trim()).toMatch(line)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stdout).toBe('')
  })

  it('ends with one clear line for an address of another machine', async () => {
    const { code, stderr, stdout } = await runUntilExit({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_HOST: '192.0.2.1',
      WEFT_LOG_LEVEL: 'warn',
    })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /^weft: cannot listen on 192\.0\.2\.1\S*: EADDRNOTAVAIL \(set WEFT_HOST or WEFT_PORT\)\n$/,
    )
  })

  it('listens at one address of localhost, so that no listener is left at SIGTERM', async () => {
    const server = await spawnServer({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_HOST: 'localhost',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TWO_ADDRESSES)}`,
    })
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(server.output().stdout.match(/listening at/g)).toHaveLength(1)
  })

  it('ends with one clear line when the data directory is a file', async () => {
    const dataDir = join(makeTempDir(), 'file')
    writeFileSync(dataDir, '')
    const { code, stderr } = await runUntilExit({ WEFT_DATA_DIR: dataDir })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^weft: cannot use the data directory .*file[^\n]* \(set WEFT_DATA_DIR\)\n$/,
    )
  })

  it('ends likewise when the database cannot be written', async () => {
    const dataDir = makeTempDir()
    // A directory instead of the file cannot be written by anybody, root included.
    mkdirSync(join(dataDir, 'weft.db'))
    chmodSync(dataDir, 0o500)
    const failure = await failureOf({ WEFT_DATA_DIR: dataDir })
    chmodSync(dataDir, 0o700)
    expect(failure).toMatchObject({
      name: 'DataDirectoryError',
      message: expect.stringMatching(/^cannot use the data directory [^\n]*$/),
    })
  })

  it('ends with one clear line when the disk has no room for the database', async () => {
    const limited = 'ulimit -f 200; exec "$0" src/server.ts'
    const env = { ...INHERITED, WEFT_DATA_DIR: makeTempDir(), WEFT_PORT: '0' }
    const failed = promisify(execFile)('sh', ['-c', limited, process.execPath], { env })
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/weft: cannot use the data directory [^\n]*\n$/),
    })
  })

  it('ends with one clear line when the database is from a newer version', async () => {
    const dataDir = makeTempDir()
    await openSqliteKeys(dataDir, true).close()
    const db = new Database(join(dataDir, 'weft.db'))
    db.exec("INSERT INTO migrations VALUES (9000, '9000-future.sql', 'x', 0)")
    db.close()
    const { code, stderr } = await runUntilExit({ WEFT_DATA_DIR: dataDir })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^weft: the database is from a newer version [^\n]*9000-future[^\n]*\n$/)
  })

  it('ends with one clear line when the file of WEFT_TINY_MODEL is missing or no model', async () => {
    const file = join(makeTempDir(), 'mine.gguf')
    const environment = { WEFT_DATA_DIR: makeTempDir(), WEFT_TINY_MODEL: file }
    const failure = /^WEFT_TINY_MODEL [^\n]*mine\.gguf cannot be used: [^\n]+$/
    const { code, stderr } = await runUntilExit(environment)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^weft: .+\n$/)])
    expect(stderr.slice('weft: '.length, -1)).toMatch(failure)
    writeFileSync(file, 'not a model')
    const message = expect.stringMatching(failure)
    expect(await failureOf(environment)).toMatchObject({ name: 'ConfigError', message })
  })

  it('ends with one clear line when the models file is missing or wrong', async () => {
    const file = join(makeTempDir(), 'models.json')
    const environment = { WEFT_DATA_DIR: makeTempDir(), WEFT_MODELS_FILE: file }
    const { code, stderr } = await runUntilExit(environment)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^weft: [^\n]*models\.json[^\n]* \(set WEFT_MODELS_FILE\)\n$/)
    for (const content of ['{"models":[{"id":5}]}', 'nope']) {
      writeFileSync(file, content)
      const failure = await failureOf(environment)
      expect(failure.name).toBe('ModelsFileError')
      expect(failure.message).toMatch(/^[^\n]*models\.json[^\n]*$/)
      expect(failure.message).toMatch(/JSON|models\[0\]\./)
    }
  })
})

describe('a server with a model of its own', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-test-'))
  let server: SpawnedServer
  beforeAll(async () => {
    server = await startServer({
      WEFT_DATA_DIR: dataDir,
      WEFT_TINY_MODEL: 'src/inference/tiny/model/tiny.gguf',
      WEFT_TINY_CHAT_TEMPLATES: 'on',
    })
  })
  afterAll(async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('runs the model of WEFT_TINY_MODEL, with templates of requests where they are allowed', async () => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'What is 3 plus 4?' }],
        chat_template:
          "{{ '<|im_start|>user\nWhat is 2 plus 2?<|im_end|>\n<|im_start|>assistant\n' }}",
        temperature: 0,
      }),
    })
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]?.message.content).toContain('4')
  })

  it('logs JSON with request ids and without keys, headers or bodies', async () => {
    await fetch(`${server.url}/call/read?token=in-the-query`, {
      method: 'POST',
      headers: {
        authorization: basic(TEST_KEY),
        'content-type': 'application/json',
        'x-request-id': 'my-request',
      },
      body: JSON.stringify({ ...READ, id: 'in-the-body' }),
    })
    await expect.poll(() => server.output().stdout).toMatch(/my-request.*\n/)
    const { stdout } = server.output()
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const own = lines.filter(({ request_id }) => request_id === 'my-request')
    expect(own).toEqual([
      expect.objectContaining({
        msg: 'request answered',
        route: '/call/read',
        status: 404,
        code: 'call_not_found',
        svc_user_id: 'bootstrap',
      }),
    ])
    for (const secret of [TEST_KEY, basic(TEST_KEY), 'in-the-query', 'in-the-body']) {
      expect(stdout).not.toContain(secret)
    }
  })
})

describe('kill -9 under load', () => {
  it('loses no acknowledged call', async () => {
    const dataDir = makeTempDir()
    const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
    const acknowledged: string[] = []
    const post = (body: unknown) =>
      fetch(`${server.url}/call/start`, {
        method: 'POST',
        headers: { authorization: basic(TEST_KEY), 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const clients = Array.from({ length: 16 }, async (_, client) => {
      for (let n = 0; ; n++) {
        const id = `call-${client}-${n}`
        const start = {
          project_id: 'acme/demo',
          id,
          op_name: 'op',
          started_at: '2026-01-01T00:00:00Z',
          attributes: {},
          inputs: { text: 'x'.repeat(500) },
        }
        const response = await post({ start }).catch(() => null)
        if (response?.status !== 200) return
        acknowledged.push(id)
        if (acknowledged.length === 400) server.process.kill('SIGKILL')
      }
    })
    await Promise.all(clients)
    expect(acknowledged.length).toBeGreaterThanOrEqual(400)

    const again = await buildTestApp({ dataDir })
    for (const id of acknowledged) {
      const { status } = await again.post('/call/read', { project_id: 'acme/demo', id })
      expect([id, status]).toEqual([id, 200])
    }
  })
})
