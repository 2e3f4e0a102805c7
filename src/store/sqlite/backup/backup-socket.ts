/**
 * The socket in the data directory at which the process that has the directory copies its database for a backup. Only the
 * user that runs the process can open it, and may read the directory anyway.
 *
 * A client sends one line, `{"copy_to": PATH}`. It gets lines: `{"done", "total"}` in pages while the copy is made, then
 * `{"error"}`, which is null when the copy is whole. Until it hangs up, no file is removed.
 */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { z } from 'zod'
import type { BackupParts } from '../open.ts'
import { createCopyMemory, openCopyProgress } from '../write/database-copy.ts'

const SOCKET_FILE = 'weft.sock'
/** Limits: connections, and the line that each sends. */
const CONNECTIONS_MAX = 4
const LINE_LENGTH_MAX = 16_384
const LINE_MS_MAX = 5000
/** Limit: how long a backup may take, and files wait to be removed. */
const BACKUP_MS_MAX = 24 * 3_600_000
const TELL_EVERY_MS = 200

const Request = z.strictObject({ copy_to: z.string().min(1) })
const Reply = z.union([
  z.object({ done: z.number(), total: z.number() }),
  z.object({ error: z.string().nullable() }),
])

type BackupReply = z.output<typeof Reply>

/** An address has room for some hundred bytes: the shorter of two ways to write the path. */
export function addressOfSocket(dataDir: string): string {
  const path = join(dataDir, SOCKET_FILE)
  const near = relative(process.cwd(), path)
  return near.length < path.length ? near : path
}

/** @throws Error when a line is no reply */
export function readReply(line: string): BackupReply {
  return Reply.parse(JSON.parse(line))
}

/**
 * Begins to listen. Where that cannot be, as on file systems without sockets, the process serves all the same, and only
 * the command that makes backups fails.
 *
 * @param dataDir - whose lock this process has; ':memory:' has no socket
 * @returns its `close` ends the backup that is under way
 */
export async function openBackupSocket(
  dataDir: string,
  parts: BackupParts,
): Promise<{ close(): void }> {
  if (dataDir === ':memory:') return { close: () => undefined }
  const sockets = new Set<Socket>()
  let isTaken = false

  async function serve(socket: Socket, line: string): Promise<void> {
    const path = readPath(line)
    if (path === null) return hangUp(socket, 'this is no request for a copy')
    if (isTaken) return hangUp(socket, 'another backup is under way')
    isTaken = true
    try {
      await runBackup(socket, path, parts)
    } finally {
      isTaken = false
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    awaitLine(socket, (line) => void serve(socket, line))
  })
  server.maxConnections = CONNECTIONS_MAX
  await listen(server, addressOfSocket(dataDir))
  return {
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** What a process that was killed has left is in the way. */
function listen(server: Server, address: string): Promise<void> {
  rmSync(address, { force: true })
  return new Promise((resolve) => {
    server.once('error', () => resolve())
    server.listen(address, () => {
      chmodSync(address, 0o600)
      resolve()
    })
  })
}

function awaitLine(socket: Socket, onLine: (line: string) => void): void {
  let text = ''
  const timer = setTimeout(() => socket.destroy(), LINE_MS_MAX)
  socket.setEncoding('utf8')
  socket.on('close', () => clearTimeout(timer))
  socket.on('data', function take(chunk: string) {
    text += chunk
    const end = text.indexOf('\n')
    if (end < 0 && text.length <= LINE_LENGTH_MAX) return
    clearTimeout(timer)
    socket.off('data', take)
    // What comes behind it is read and dropped, so that the end is seen.
    socket.resume()
    onLine(text.slice(0, Math.max(0, end)))
  })
}

function readPath(line: string): string | null {
  try {
    return Request.parse(JSON.parse(line)).copy_to
  } catch {
    return null
  }
}

/** Resolves when the client has hung up. */
async function runBackup(socket: Socket, path: string, parts: BackupParts): Promise<void> {
  const memory = createCopyMemory()
  const progress = openCopyProgress(memory)
  const hungUp = new Promise<void>((resolve) => {
    socket.once('close', () => {
      progress.stop()
      resolve()
    })
  })
  const release = parts.holdFiles()
  const teller = setInterval(() => tell(socket, progress.read()), TELL_EVERY_MS)
  const limit = setTimeout(() => socket.destroy(), BACKUP_MS_MAX)
  try {
    const error = await parts.copyDatabase(path, memory).catch((fault: Error) => fault.message)
    clearInterval(teller)
    tell(socket, { error })
    await hungUp
  } finally {
    clearInterval(teller)
    clearTimeout(limit)
    await release()
  }
}

function tell(socket: Socket, reply: BackupReply): void {
  if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`)
}

function hangUp(socket: Socket, error: string): void {
  tell(socket, { error })
  socket.end()
}
