import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteKeys } from '../../src/store/sqlite/open.ts'
import { basic } from '../support/build-test-app.ts'
import { INHERITED } from '../support/inherited.ts'
import { spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const run = promisify(execFile)

async function keys(dataDir: string, ...args: string[]) {
  const env = { ...INHERITED, WEFT_DATA_DIR: dataDir }
  const done = run(process.execPath, ['src/keys.ts', ...args], { env })
  return done.catch((error: { code: number; stdout: string; stderr: string }) => error)
}

/** Makes a key for each user, as the command does; returns their ids. */
async function makeKeys(dataDir: string, ...users: string[]): Promise<string[]> {
  const { keys, close } = openSqliteKeys(dataDir, true)
  const ids: string[] = []
  for (const user of users) {
    const rights = { scopes: ['traces:read'] as const, projects: ['*'] }
    ids.push((await keys.createKey({ svc_user_id: user, svc_username: user, ...rights })).id)
  }
  await close()
  return ids
}

async function statusWith(url: string, key: string, project_id: string): Promise<number> {
  const response = await fetch(`${url}/call/read`, {
    method: 'POST',
    headers: { authorization: basic(key, ''), 'content-type': 'application/json' },
    body: JSON.stringify({ project_id, id: 'nothing' }),
  })
  return response.status
}

describe('npm run keys', () => {
  it('makes, lists and revokes keys while the server runs', async () => {
    const dataDir = makeTempDir()
    const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
    const made = await keys(
      dataDir,
      ...['create', '--user', 'alice', '--scopes', 'traces:read', '--projects', 'acme/*'],
    )
    const [secret = ''] = /wk_[\w-]{43}/.exec(made.stdout) ?? []
    const [id = ''] = /[0-9a-f-]{36}/.exec(made.stdout) ?? []
    expect(await statusWith(server.url, secret, 'acme/demo')).toBe(404)
    expect(await statusWith(server.url, secret, 'other/demo')).toBe(403)

    const listed = await keys(dataDir, 'list')
    expect(listed.stdout).toMatch(
      new RegExp(`^${id}  live  .*  alice  traces:read  acme/\\*$`, 'm'),
    )
    expect(listed.stdout).not.toContain(secret)

    await keys(dataDir, 'revoke', id)
    await expect.poll(() => statusWith(server.url, secret, 'acme/demo')).toBe(401)
    expect((await keys(dataDir, 'list')).stdout).toContain('revoked')
    await server.stop()
  })

  it('lists and revokes nothing where there is no database, and creates none', async () => {
    const dataDir = join(makeTempDir(), 'mistyped')
    for (const args of [['list'], ['revoke', 'some-id']]) {
      const result = await keys(dataDir, ...args)
      expect(result).toMatchObject({ code: 1, stdout: '' })
      expect(result.stderr).toBe(
        `weft: cannot use the data directory ${dataDir}: it has no weft.db\n`,
      )
    }
    expect(existsSync(dataDir)).toBe(false)
    const made = await keys(dataDir, 'create', '--user', 'first')
    expect(made.stderr).toContain(`${dataDir} has no database yet`)
    expect((await keys(dataDir, 'create', '--user', 'second')).stderr).toBe('')
  })

  it('takes spaces behind the commas of a list', async () => {
    const dataDir = makeTempDir()
    const lists = ['--scopes', 'traces:read, inference', '--projects', 'acme/*, other/demo']
    await keys(dataDir, 'create', '--user', 'me', ...lists)
    const { stdout } = await keys(dataDir, 'list')
    expect(stdout).toMatch(/ {2}me {2}traces:read,inference {2}acme\/\*,other\/demo$/m)
  })

  it('revokes all keys that are named, and reports those it cannot', async () => {
    const dataDir = makeTempDir()
    const ids = await makeKeys(dataDir, 'alice', 'bob')
    const result = await keys(dataDir, 'revoke', ids[0] ?? '', 'nothing', ids[1] ?? '')
    expect(result).toMatchObject({
      code: 1,
      stdout: ids.map((id) => `revoked ${id}\n`).join(''),
      stderr: 'weft: there is no such key, or it was revoked: nothing\n',
    })
    expect((await keys(dataDir, 'list')).stdout).not.toContain('live')
  })

  it('succeeds where the disk has no room to move the log into the database', async () => {
    const made = makeTempDir()
    await makeKeys(made, 'alice')
    const db = new Database(join(made, 'weft.db'))
    db.pragma('wal_autocheckpoint = 0')
    db.exec('CREATE TABLE much AS SELECT zeroblob(2000000) AS bytes')
    const full = join(makeTempDir(), 'full')
    cpSync(made, full, { recursive: true })
    db.close()
    // The log just fits, and the database with its pages does not. `ulimit` counts blocks of 512 bytes.
    const blocks = Math.ceil(statSync(join(full, 'weft.db-wal')).size / 512) + 200
    const limited = `ulimit -f ${blocks}; exec "$0" src/keys.ts list`
    const env = { ...INHERITED, WEFT_DATA_DIR: full }
    const { stdout, stderr } = await run('sh', ['-c', limited, process.execPath], { env })
    expect([stdout, stderr]).toEqual([expect.stringContaining('alice'), ''])
  })
})

describe('npm run keys with wrong arguments', () => {
  // What is refused leaves the directory as it was.
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-test-'))
  beforeAll(() => makeKeys(dataDir, 'first'))
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  it('says of what breaks a rule which option that is', async () => {
    const result = await keys(makeTempDir(), 'create', '--user', 'u'.repeat(129))
    expect(result.stderr).toBe('weft: --user must have at most 128 characters\n')
    const list = await keys(makeTempDir(), 'create', '--user', 'u', '--scopes', 'training, foo')
    expect(list.stderr).toMatch(/^weft: --scopes "foo" must be one of traces:read, /)
  })

  it('makes no database for arguments that it refuses', async () => {
    const dataDir = join(makeTempDir(), 'new')
    for (const args of [['create'], ['create', '--user', 'a', '--scopes', 'everything']]) {
      expect((await keys(dataDir, ...args)).stderr).toMatch(/^weft: --(?:user|scopes) /)
    }
    expect(existsSync(dataDir)).toBe(false)
  })

  it.each([
    [['create']],
    [['create', '--user', 'a', '--scopes', 'everything']],
    [['create', '--user', 'a', '--projects', 'acme']],
    [['revoke', 'nothing']],
    [['revoke']],
    [['destroy']],
    [['toString']],
    [['list', 'all']],
    [['create', '--user', 'bob\nid  live  2026-01-01T00:00:00  alice  admin  *']],
    [['create', '--user', 'u'.repeat(129)]],
    [['create', '--user', 'a', '--projects', `acme/${'x'.repeat(300)}`]],
    [['create', '--user', 'a', '--projects', 'acme/a\tb']],
    [[]],
  ])('%j is refused with a message and exit code 1', async (args) => {
    const result = await keys(dataDir, ...args)
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) })
    expect(result.stderr).not.toMatch(/^\s+at /m)
  })
})
