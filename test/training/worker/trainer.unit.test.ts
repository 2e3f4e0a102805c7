import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTrainer } from '../../../src/training/worker/trainer.ts'
import type { WorkerLogEntry } from '../../../src/training/worker/worker-loop.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

it('a model file that is missing or too large is left to other workers, and the log says so', async () => {
  const folder = makeTempDir()
  const large = join(folder, 'large.gguf')
  writeFileSync(large, '')
  truncateSync(large, 33_554_433)
  const log: WorkerLogEntry[] = []
  for (const modelPath of [join(folder, 'missing.gguf'), large]) {
    const trainer = createTrainer({
      baseUrl: 'http://127.0.0.1:1',
      token: 'key',
      workerId: 'w',
      workerVersion: '1',
      baseModel: 'tiny',
      modelPath,
      bodyBytesMax: 1,
      log: (entry) => log.push(entry),
    })
    await trainer.stop()
  }
  expect(log).toEqual([
    { level: 'warn', message: 'the model file cannot be read (ENOENT): it is not trained here' },
    {
      level: 'warn',
      message: 'the model file has more than 33554432 bytes: it is not trained here',
    },
  ])
})
