import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteKeys } from '../../src/store/sqlite/open.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { INHERITED } from '../support/inherited.ts'
import { runUntilExit, spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const READ = { project_id: 'acme/demo', id: 'nothing' }

async function readWith(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/call/read`, {
    method: 'POST',
    headers: { authorization: basic(key), 'content-type': 'application/json' },
    body: JSON.stringify(READ),
  })
  return response.status
}

describe('npm start', () => {
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

  it('keeps running without its log when the reader of the log ends', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
    server.process.stdout?.destroy()
    server.process.stderr?.destroy()
    for (let n = 0; n < 3; n++) {
      expect(await readWith(server.url, TEST_KEY)).toBe(404)
      await sleep(50)
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  it('logs JSON with request ids and without keys, headers or bodies', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
    await fetch(`${server.url}/call/read?token=in-the-query`, {
      method: 'POST',
      headers: {
        authorization: basic(TEST_KEY),
        'content-type': 'application/json',
        'x-request-id': 'my-request',
      },
      body: JSON.stringify({ ...READ, id: 'in-the-body' }),
    })
    await server.stop()
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

  it('ends with one clear line when the port is taken', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void blocker.close())
    const { port } = blocker.address() as { port: number }
    const { code, stderr, stdout } = await runUntilExit({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_PORT: String(port),
    })
    expect(stdout).toBe('')
    expect([code, stderr]).toEqual([
      1,
      `weft: the address 127.0.0.1:${port} is taken (set WEFT_PORT)\n`,
    ])
  })

  it('ends with one clear line for an address of another machine', async () => {
    const { code, stderr, stdout } = await runUntilExit({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_HOST: '192.0.2.1',
    })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /^weft: cannot listen on 192\.0\.2\.1\S*: EADDRNOTAVAIL \(set WEFT_HOST or WEFT_PORT\)\n$/,
    )
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

  it('ends with one clear line when the database cannot be written', async () => {
    const dataDir = makeTempDir()
    // A directory in the place of the file cannot be written by anybody, root included.
    mkdirSync(join(dataDir, 'weft.db'))
    chmodSync(dataDir, 0o500)
    const { code, stderr } = await runUntilExit({ WEFT_DATA_DIR: dataDir })
    chmodSync(dataDir, 0o700)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^weft: cannot use the data directory [^\n]*\n$/)
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
    for (const content of [null, 'not a model']) {
      if (content !== null) writeFileSync(file, content)
      const { code, stderr } = await runUntilExit({
        WEFT_DATA_DIR: makeTempDir(),
        WEFT_TINY_MODEL: file,
      })
      expect(code).toBe(1)
      expect(stderr).toMatch(/^weft: WEFT_TINY_MODEL [^\n]*mine\.gguf cannot be used: [^\n]+\n$/)
    }
  })

  it('runs the model of WEFT_TINY_MODEL, with templates of requests where they are allowed', async () => {
    const server = await spawnServer({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_TINY_MODEL: 'src/inference/tiny/model/tiny.gguf',
      WEFT_TINY_CHAT_TEMPLATES: 'on',
    })
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
    await server.stop()
  })

  it('ends with one clear line when the models file is missing or wrong', async () => {
    const file = join(makeTempDir(), 'models.json')
    for (const content of [null, '{"models":[{"id":5}]}', 'nope']) {
      if (content !== null) writeFileSync(file, content)
      const { code, stderr } = await runUntilExit({
        WEFT_DATA_DIR: makeTempDir(),
        WEFT_MODELS_FILE: file,
      })
      expect(code).toBe(1)
      const hint = content === null ? /\(set WEFT_MODELS_FILE\)\n$/ : /JSON|models\[0\]\./
      expect(stderr).toMatch(/^weft: [^\n]*models\.json[^\n]*\n$/)
      expect(stderr).toMatch(hint)
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
