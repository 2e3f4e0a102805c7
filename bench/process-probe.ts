/**
 * Loaded into a process under measurement by `--import`: answers each message of its parent with what the
 * process has used so far.
 */

/** What a process used since its start, and holds. */
export interface ProcessUse {
  /** All threads, user and system. */
  readonly cpuMs: number
  readonly rssMb: number
  /** After a collection where the process was started with `--expose-gc`. */
  readonly heapMb: number
}

const MB = 1024 * 1024

process.on('message', () => {
  // First: the collection is no part of what is measured.
  const { user, system } = process.cpuUsage()
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const use: ProcessUse = {
    cpuMs: (user + system) / 1000,
    rssMb: rss / MB,
    heapMb: heapUsed / MB,
  }
  process.send?.(use)
})
process.on('disconnect', () => process.exit())
