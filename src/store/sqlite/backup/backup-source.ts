/** The source of a backup: a data directory that this process locks, or that another process owns and copies for it. */
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  type Connection,
  closeDatabase,
  DATABASE_FILE,
  openCheckpointDatabase,
  requireDatabase,
  unusableDirectory,
} from '../db/connection.ts'
import { tryLockDataDirectory } from '../db/directory-lock.ts'
import { createWalGateMemory, openWalGate } from '../db/wal-gate.ts'
import { copyDatabase, createCopyMemory, openCopyProgress } from '../write/database-copy.ts'
import { addressOfSocket, readReply } from './backup-socket.ts'

const TELL_EVERY_MS = 200

/** In pages of the database. */
type TellProgress = (done: number, total: number) => void

export interface BackupSource {
  /** @param path - an empty file. @throws Error with a one-line reason when the copy is incomplete */
  copyDatabase(path: string, onProgress: TellProgress): Promise<void>
  /** Ends the backup. Until then, no file that the copy names is removed. */
  close(): void
}

/** @throws DataDirectoryError, Error when the process that owns the directory accepts no backups, or its socket has a too long path */
export async function openBackupSource(dataDir: string): Promise<BackupSource> {
  requireDatabase(dataDir)
  const lock = tryLockDataDirectory(dataDir)
  return lock === null ? openOwnerOfJoins(dataDir) : openOwned(dataDir, lock.release)
}

/** Copies an otherwise unused directory. Runs no migrations: the copy has the version of the directory. */
function openOwned(dataDir: string, release: () => void): BackupSource {
  return {
    async copyDatabase(path, onProgress) {
      const db = openSource(dataDir)
      const memory = createCopyMemory()
      const progress = openCopyProgress(memory)
      const teller = setInterval(() => {
        const { done, total } = progress.read()
        onProgress(done, total)
      }, TELL_EVERY_MS)
      try {
        const gate = openWalGate(createWalGateMemory())
        requireWhole(await copyDatabase(db, gate, path, memory), `this process, to ${path}`)
      } finally {
        clearInterval(teller)
        closeDatabase(db)
      }
    },
    close: release,
  }
}

function openSource(dataDir: string): Connection {
  try {
    return openCheckpointDatabase(join(dataDir, DATABASE_FILE))
  } catch (cause) {
    throw unusableDirectory(dataDir, cause)
  }
}

async function openOwnerOfJoins(dataDir: string): Promise<BackupSource> {
  const socket = await connectToOwner(dataDir)
  const lines = createInterface({ input: socket })
  return {
    async copyDatabase(path, onProgress) {
      socket.write(`${JSON.stringify({ copy_to: path })}\n`)
      for await (const line of lines) {
        const reply = readReply(line)
        if ('error' in reply) return requireWhole(reply.error, `the server, to ${path}`)
        onProgress(reply.done, reply.total)
      }
      throw new Error('the server stopped before the copy was complete')
    },
    close: () => socket.destroy(),
  }
}

function connectToOwner(dataDir: string): Promise<Socket> {
  const address = addressOfSocket(dataDir)
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    socket.once('connect', () => resolve(socket))
    socket.once('error', ({ message }) => {
      const who = `the process that uses ${dataDir} does not accept backups`
      reject(
        new Error(
          `${who} (${message}): it may be starting, be an older version or no server, or its log says why`,
        ),
      )
    })
    socket.on('error', () => undefined)
  })
}

function requireWhole(error: string | null, by: string): void {
  if (error !== null) throw new Error(`the database could not be copied by ${by}: ${error}`)
}
