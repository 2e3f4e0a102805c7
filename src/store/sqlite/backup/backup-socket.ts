/**
 * A socket in the data directory through which the owning process copies its database for a backup. Only the user that
 * runs the process can open it, and that user can read the directory anyway.
 *
 * A client sends one line, `{"copy_to": PATH}`. It receives lines: `{"done", "total"}` in pages during the copy, then
 * `{"error"}`, which is null when the copy is complete. Until the client disconnects, no file is removed.
 */
import { once } from 'node:events'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { identifyFile } from '../db/database-path.ts'
import type { BackupParts } from '../open.ts'
import { createCopyMemory, openCopyProgress } from '../write/database-copy.ts'

const SOCKET_FILE = 'weft.sock'
/** Limit of the system: bytes of a socket's path. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103
/** Limits: connections, the length of the line that each sends, and the wait for it. */
const CONNECTIONS_MAX = 4
const LINE_LENGTH_MAX = 16_384
const LINE_MS_MAX = 5000
/** Limit: how long a backup may take, and so how long removals of files may be deferred. */
const BACKUP_MS_MAX = 24 * 3_600_000
const TELL_EVERY_MS = 200

const Request = z.strictObject({ copy_to: z.string().min(1) })
const Reply = z.union([
  z.object({ done: z.number(), total: z.number() }),
  z.object({ error: z.string().nullable() }),
])

type BackupReply = z.output<typeof Reply>

/**
 * Returns the shorter form of the path, relative or absolute: a socket address holds only some hundred bytes.
 *
 * @throws Error in one line when both are too long
 */
export function addressOfSocket(dataDir: string): string {
  const path = join(dataDir, SOCKET_FILE)
  const near = relative(process.cwd(), path)
  const address = near.length < path.length ? near : path
  const bytes = Buffer.byteLength(address)
  if (bytes <= PATH_BYTES_MAX) return address
  const limit = `a socket's path may have ${PATH_BYTES_MAX} bytes, and its own has ${bytes}`
  throw new Error(`the data directory ${dataDir} has a too long path: ${limit}`)
}

/** Parses a reply. @throws Error when the line is no reply */
export function readReply(line: string): BackupReply {
  return Reply.parse(JSON.parse(line))
}

interface BackupSocket {
  /** Why it accepts no backups, in one line; null: it does. */
  readonly fault: string | null
  /** Ends a running backup. */
  close(): void
}

/**
 * Starts listening. If that fails, for example on a file system without sockets, the server still runs and only the
 * backup command fails.
 *
 * @param dataDir - a directory that this process has locked; ':memory:' has no socket
 */
export async function openBackupSocket(dataDir: string, parts: BackupParts): Promise<BackupSocket> {
  if (dataDir === ':memory:') return { fault: null, close: () => undefined }
  const sockets = new Set<Socket>()
  let isTaken = false

  async function serve(socket: Socket, line: string): Promise<void> {
    const path = readPath(line)
    if (path === null) return hangUp(socket, 'not a valid backup request')
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
  // Without a listener, a connection that cannot be accepted would end the process.
  server.on('error', () => undefined)
  try {
    const address = addressOfSocket(dataDir)
    const own = await listen(server, address)
    return {
      fault: null,
      close() {
        // After a move of the directory, the path may lead to the socket of another process.
        if (identifyFile(address) === own) rmSync(address, { force: true })
        server.close()
        for (const socket of sockets) socket.destroy()
      },
    }
  } catch (error) {
    server.close()
    return { fault: (error as Error).message, close: () => undefined }
  }
}

/**
 * Listens, in place of a socket that a killed process has left. Node removes the path that it was given when it
 * closes the server, whatever is there by then. So that path is one that only this process uses, and is renamed.
 *
 * @returns the identity of the socket
 * @throws Error when it cannot listen
 */
async function listen(server: Server, address: string): Promise<string | null> {
  // No longer than the final name: the length is limited.
  const given = join(dirname(address), `${process.pid}.s`)
  rmSync(given, { force: true })
  server.listen(given)
  await once(server, 'listening')
  chmodSync(given, 0o600)
  renameSync(given, address)
  return identifyFile(address)
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
    // Reads and drops further input, so that the end of the connection is noticed.
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

/** Runs a backup; resolves when the client has disconnected. */
async function runBackup(socket: Socket, path: string, parts: BackupParts): Promise<void> {
  const memory = createCopyMemory()
  const progress = openCopyProgress(memory)
  const hungUp = new Promise<void>((resolve) => {
    socket.once('close', () => {
      progress.stop()
      resolve()
    })
  })
  const release = parts.pinFiles()
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
