/** Temporary files for large bodies of training jobs while they are received. None outlives the process. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '../../errors.ts'

/** A body that is being received. */
export interface StagedBody {
  /** Path of the received bytes. */
  readonly file: string
  /** Path to write its groups to. */
  readonly payloadFile: string
  /** @throws ApiError store_unavailable */
  write(bytes: Buffer): Promise<void>
  /** Closes the file for writing. */
  finish(): Promise<void>
  /** Removes both files. Never fails. */
  discard(): Promise<void>
}

interface BodyFolder {
  /** Opens a file for a large body. @throws ApiError store_unavailable */
  stageBody(): Promise<StagedBody>
  /** Removes the folder. */
  close(): void
}

/** In the data directory, since the system's temporary folder may be small or in memory. */
const DIRECTORY = 'training-bodies'

/**
 * Removes files left by a crash, and creates the folder with the first body.
 *
 * @param dataDir - a directory that no other process uses, or ':memory:' for a temporary one
 */
export function openBodyFolder(dataDir: string): BodyFolder {
  const directory =
    dataDir === ':memory:'
      ? join(tmpdir(), `weft-bodies-${randomUUID()}`)
      : join(dataDir, DIRECTORY)
  const remove = () => rmSync(directory, { recursive: true, force: true })
  remove()
  return {
    stageBody: () =>
      onDisk(async () => {
        await mkdir(directory, { recursive: true, mode: 0o700 })
        return stageBody(join(directory, randomUUID()))
      }),
    close: remove,
  }
}

async function stageBody(file: string): Promise<StagedBody> {
  const payloadFile = `${file}.groups`
  const handle = await open(file, 'wx', 0o600)
  return {
    file,
    payloadFile,
    // A single write may be partial; writeFile continues until everything is written.
    write: (bytes) => onDisk(() => handle.writeFile(bytes)),
    finish: () => onDisk(() => handle.close()),
    async discard() {
      await handle.close().catch(() => undefined)
      for (const path of [file, payloadFile]) {
        await rm(path, { force: true }).catch(() => undefined)
      }
    },
  }
}

/** Runs a disk operation. */
async function onDisk<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw new ApiError('store_unavailable', { cause, retryAfterS: 5 })
  }
}
