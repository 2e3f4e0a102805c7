import { execFile } from 'node:child_process'
import { cpSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
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
      expect(result.stderr).toBe(`cannot use the data directory ${dataDir}: it has no weft.db\n`)
    }
    expect(existsSync(dataDir)).toBe(false)
    const made = await keys(dataDir, 'create', '--user', 'first')
    expect(made.stderr).toContain(`${dataDir} has no database yet`)
    expect((await keys(dataDir, 'create', '--user', 'second')).stderr).toBe('')
  })

  it('revokes all keys that are named, and reports those it cannot', async () => {
    const dataDir = makeTempDir()
    const made = []
    for (const user of ['alice', 'bob']) made.push(await keys(dataDir, 'create', '--user', user))
    const ids = made.map(({ stdout }) => /[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '')
    const result = await keys(dataDir, 'revoke', ids[0] ?? '', 'nothing', ids[1] ?? '')
    expect(result).toMatchObject({
      code: 1,
      stdout: ids.map((id) => `revoked ${id}\n`).join(''),
      stderr: 'there is no such key, or it was revoked: nothing\n',
    })
    expect((await keys(dataDir, 'list')).stdout).not.toContain('live')
  })

  it('succeeds where the disk has no room to move the log into the database', async () => {
    const made = makeTempDir()
    await keys(made, 'create', '--user', 'alice')
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

  it('says of what breaks a rule which option that is', async () => {
    const result = await keys(makeTempDir(), 'create', '--user', 'u'.repeat(129))
    expect(result.stderr).toContain('--user must have at most 128 characters\n')
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
  ])('refuses %j with a message and exit code 1', async (args) => {
    const dataDir = makeTempDir()
    await keys(dataDir, 'create', '--user', 'first')
    const result = await keys(dataDir, ...args)
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) })
    expect(result.stderr).not.toMatch(/^\s+at /m)
  })
})
