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

  it.each([
    [['create']],
    [['create', '--user', 'a', '--scopes', 'everything']],
    [['create', '--user', 'a', '--projects', 'acme']],
    [['revoke', 'nothing']],
    [['revoke']],
    [['destroy']],
    [[]],
  ])('refuses %j with a message and exit code 1', async (args) => {
    const dataDir = makeTempDir()
    await keys(dataDir, 'create', '--user', 'first')
    const result = await keys(dataDir, ...args)
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) })
    expect(result.stderr).not.toContain('at ')
  })
})
