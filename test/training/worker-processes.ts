/** Starts workers as processes of their own, which end with the test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { tieToParent } from '../support/tied-process.ts'

interface WorkerLine {
  readonly claimed?: string
  readonly completed?: string
  readonly attempt: number
  readonly status: number
}

export interface WorkerProcess {
  readonly child: ChildProcess
  /** Called with each line that it writes. */
  readonly lines: WorkerLine[]
  /** Resolves with its first line. */
  first(): Promise<WorkerLine>
  readonly ended: Promise<unknown>
}

export function startWorker(settings: object): WorkerProcess {
  const args = ['test/training/worker-process.ts', JSON.stringify(settings)]
  const child = spawn(...tieToParent(process.execPath, args), {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: WorkerLine[] = []
  const { promise, resolve } = Promise.withResolvers<WorkerLine>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as WorkerLine
    lines.push(line)
    resolve(line)
  })
  return { child, lines, first: () => promise, ended: once(child, 'close') }
}
