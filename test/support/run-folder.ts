/** The folder that holds all folders of one run of the tests: what a test leaves behind goes with it. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const NAME = /^weft-run-(\d+)$/

/** Makes the folder of this process, gone when it ends, and removes those of processes that were killed. */
export function makeRunFolder(parent: string): string {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(parent, name))
  }
  const folder = join(parent, `weft-run-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.on('exit', () => remove(folder))
  return folder
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // One of another user may not be signalled, but runs.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Another user's, or still written to: a later run removes it.
  }
}
