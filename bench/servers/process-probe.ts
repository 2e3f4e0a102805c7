/**
 * Loaded into a process under measurement by `--import`: answers each message of its parent with what the
 * process has used so far; `memory` after a collection.
 */

/** What a process used since its start, and holds. */
export interface ProcessUse {
  /** All threads, user and system. */
  readonly cpuMs: number
  /** The part of the main thread. */
  readonly mainMs: number
  readonly rssMb: number
  readonly heapMb: number
}

const MB = 1024 * 1024

process.on('message', (question) => {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  if (question === 'memory') globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const use: ProcessUse = {
    cpuMs: (all.user + all.system) / 1000,
    mainMs: (main.user + main.system) / 1000,
    rssMb: rss / MB,
    heapMb: heapUsed / MB,
  }
  process.send?.(use)
})
process.on('disconnect', () => process.exit())
