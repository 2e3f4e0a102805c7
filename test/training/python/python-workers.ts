/** Starts the example worker in Python as a process of its own, which ends with the test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { TEST_KEY } from '../../support/spawn-server.ts'
import { tieToParent } from '../../support/tied-process.ts'

const VERSION_CHECK = 'import sys; sys.exit(sys.version_info < (3, 9))'
export const hasPython = spawnSync('python3', ['-c', VERSION_CHECK]).status === 0
if (!hasPython) {
  process.stderr.write('skipped: examples/worker.py needs python3, version 3.9 or newer\n')
}

interface PythonWorker {
  readonly child: ChildProcess
  /** What it told so far. */
  readonly told: () => string
  readonly ended: Promise<unknown>
}

/** @param options.trainer - `<module>:<function>` in the folder `options.trainers` */
export function startPython(
  url: string,
  baseModel: string,
  { key = TEST_KEY, trainer = '', trainers = '' } = {},
): PythonWorker {
  const train = trainer === '' ? [] : ['--train', trainer]
  const args = ['examples/worker.py', '--server', url, '--base-model', baseModel, ...train]
  const child = spawn(...tieToParent('python3', args), {
    env: {
      PATH: process.env.PATH,
      WEFT_WORKER_KEY: key,
      PYTHONPATH: trainers,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { child, told: () => text, ended: once(child, 'close') }
}
