/**
 * A PostgreSQL for tests: Debian's own server in a folder that goes with it, reached by a socket there. Runs as a process
 * of its own, whose first line tells the folder, and ends with its standard input. The server refuses to run as root, so
 * that root lends it another user.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [bin = ''] = process.argv.slice(2)

/** The user and group that the server runs as. */
function findUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  return null
}

const user = findUser()
const folder = mkdtempSync(join(tmpdir(), 'weft-pg-'))
if (user) chownSync(folder, user.uid, user.gid)
// Tests reach the socket as other users.
chmodSync(folder, 0o755)
const database = join(folder, 'data')
const options = { ...(user ?? {}), cwd: folder, env: { ...process.env, LC_ALL: 'C' } }

const made = spawnSync(
  join(bin, 'initdb'),
  ['-D', database, '-U', 'weft', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
  { ...options, encoding: 'utf8' },
)
if (made.status !== 0) throw new Error(`initdb: ${made.stderr || made.error?.message}`)

const settings = {
  listen_addresses: '',
  unix_socket_directories: folder,
  unix_socket_permissions: '0777',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  shared_buffers: '64MB',
  autovacuum: 'off',
  log_min_messages: 'panic',
}
const server = spawn(
  join(bin, 'postgres'),
  [
    '-D',
    database,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ],
  { ...options, stdio: ['ignore', 'ignore', 'inherit'] },
)
const ended = once(server, 'exit')

async function waitUntilOpen(): Promise<void> {
  const socket = join(folder, '.s.PGSQL.5432')
  while (server.exitCode === null) {
    const asked = spawnSync(join(bin, 'pg_isready'), ['-q', '-h', folder, '-U', 'weft'])
    if (existsSync(socket) && asked.status === 0) return
    await sleep(50)
  }
  throw new Error(`postgres ended with exit code ${server.exitCode}`)
}

await waitUntilOpen()
process.stdout.write(`${folder}\n`)
process.stdin.resume()
process.stdin.on('end', async () => {
  // At once, without its last checkpoint: nobody needs the data.
  server.kill('SIGQUIT')
  await ended
  rmSync(folder, { recursive: true, force: true })
  process.exit(0)
})
