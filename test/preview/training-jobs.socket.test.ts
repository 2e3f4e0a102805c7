/** Large bodies over a real socket, where limits of size and time are those of the server. */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { CHOICE, createModel, JOBS_URL } from './preview-fixtures.ts'

const MIB = 1024 * 1024

/** Groups of 40 MiB: long texts, and among them a choice with logprobs for each. */
function renderLargeGroups(): string {
  const said = { role: 'user', content: 'What is 2 + 2? "Four", said she.\n'.repeat(MIB / 32) }
  const trajectory = JSON.stringify({ messages_and_choices: [said, CHOICE], reward: 1 })
  const count = Math.ceil((40 * MIB) / trajectory.length)
  return `[{"trajectories":[${Array(count).fill(trajectory).join(',')}]}]`
}

it('takes a body of 40 MiB over a socket and keeps it whole', async () => {
  const dataDir = makeTempDir()
  const testApp = await buildTestApp({ dataDir, readThreads: 1 })
  const model_id = await createModel(testApp)
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const groups = renderLargeGroups()
  const response = await fetch(url + JOBS_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${testApp.key}`, 'content-type': 'application/json' },
    body: `{"model_id":"${model_id}","trajectory_groups":${groups}}`,
  })
  expect(response.status).toBe(200)
  const { id } = (await response.json()) as { id: string }
  const job = await testApp.deps.trainingJobs.findJob(id)
  expect(groups.length).toBeGreaterThanOrEqual(40 * MIB)
  expect(job?.payload_sha256).toBe(createHash('sha256').update(groups).digest('hex'))
  expect(statSync(join(dataDir, job?.payload_path ?? '')).size).toBe(groups.length)
})

it('refuses a key without the scope before the body has come', async () => {
  const testApp = await buildTestApp()
  const url = await testApp.app.listen({ port: 0, host: '127.0.0.1' })
  const key = testApp.createKey({ scopes: ['inference'] })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = request(url + JOBS_URL, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': 100 * MIB,
      },
    })
    sending.on('response', (response) => {
      resolve(response.statusCode)
      sending.destroy()
    })
    sending.on('error', reject)
    // The first byte only: the answer must not wait for the rest.
    sending.write('{')
  })
  expect(status).toBe(403)
})
