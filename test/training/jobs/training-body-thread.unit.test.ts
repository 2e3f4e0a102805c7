import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  createTrainingBodyThread,
  optionsOfBodyThread,
} from '../../../src/training/jobs/training-body-thread.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

function openThread() {
  const entry = new URL('../support/dying-body-entry.ts', import.meta.url)
  const thread = createTrainingBodyThread({ heapMibMax: 16, entry })
  onTestFinished(() => thread.close())
  const read = (file: string) => thread.read({ file, payloadFile: '' })
  return { read, close: thread.close }
}

it('bodies that wait behind one too large for the memory are read', async () => {
  const { read } = openThread()
  const [huge, ...others] = await Promise.allSettled(['huge', 'a', 'b'].map(read))
  expect(huge).toMatchObject({ status: 'rejected', reason: { code: 'request_too_large' } })
  expect(others).toMatchObject([{ value: { model_id: 'a' } }, { value: { model_id: 'b' } }])
})

it('waiting bodies fail with server_draining when the thread is closed', async () => {
  const { read, close } = openThread()
  const ends = Promise.allSettled(['huge', 'a'].map(read))
  await close()
  for (const end of await ends) {
    expect(end).toMatchObject({ status: 'rejected', reason: { code: 'server_draining' } })
  }
})

it('a body whose objects would exhaust the memory of the process is refused', async () => {
  const { entry } = optionsOfBodyThread(0)
  const thread = createTrainingBodyThread({ heapMibMax: 64, entry })
  onTestFinished(() => thread.close())
  const file = join(makeTempDir(), 'body')
  writeFileSync(file, `{"trajectory_groups":[${'{},'.repeat(4_000_000)}{}]}`)
  const reading = thread.read({ file, payloadFile: `${file}-payload` })
  await expect(reading).rejects.toMatchObject({ code: 'request_too_large' })
})

it('a body whose groups cannot be written is refused with store_unavailable', async () => {
  const { entry } = optionsOfBodyThread(0)
  const thread = createTrainingBodyThread({ heapMibMax: 64, entry })
  onTestFinished(() => thread.close())
  const file = join(makeTempDir(), 'body')
  writeFileSync(file, `{"model_id":"${randomUUID()}","trajectory_groups":[{"trajectories":[]}]}`)
  const reading = thread.read({ file, payloadFile: join(file, 'no folder') })
  await expect(reading).rejects.toMatchObject({ code: 'store_unavailable' })
})
