/** When the settings of projects take effect. */
import { expect, it, onTestFinished } from 'vitest'
import type { CallStart } from '../../src/domain/calls/new-call.ts'
import { createRedactingStores } from '../../src/redaction/redacting-stores.ts'

type StoresToRedact = Parameters<typeof createRedactingStores>[0]
type Redactions = StoresToRedact['redactions']
type Setting = Awaited<ReturnType<Redactions['listRedactions']>>

const SETTING = { project_id: 'acme/demo', rules_json: '{"kinds":["email"]}' }
const START = {
  project_id: 'acme/demo',
  id: 'c1',
  start_size_bytes: 10,
  attributes_json: '{}',
  inputs_json: '{"to":"ann@mail.example"}',
} as CallStart
const REDACTED = '{"to":"[redacted:email]"}'

/** Stores that only note the inputs of calls that are started. */
function open(redactions: Redactions) {
  const stored: string[] = []
  const calls = {
    async startCall({ id, inputs_json }: CallStart) {
      stored.push(inputs_json)
      return { id, trace_id: id }
    },
  }
  const stores = { calls, recordings: {}, redactions } as unknown as StoresToRedact
  const redacting = createRedactingStores(stores)
  onTestFinished(redacting.close)
  return { ...redacting, stored }
}

it('a setting holds for calls after it, also when the older one was being read meanwhile', async () => {
  const reads: PromiseWithResolvers<Setting>[] = []
  const { calls, redactions, stored } = open({
    listRedactions() {
      const read = Promise.withResolvers<Setting>()
      reads.push(read)
      return read.promise
    },
    setRedaction: async () => {},
  })
  const before = calls.startCall(START)
  await redactions.setRedaction(SETTING)
  reads[0]?.resolve([])
  await before
  const after = calls.startCall(START)
  await expect.poll(() => reads.length + stored.length).toBeGreaterThan(2)
  reads[1]?.resolve([SETTING])
  await after
  expect(stored[1]).toBe(REDACTED)
})

it('a setting that is durable although its write has failed holds for calls after it', async () => {
  let listed: Setting = []
  const { calls, redactions, stored } = open({
    listRedactions: async () => listed,
    async setRedaction() {
      listed = [SETTING]
      throw new Error('the connection ended after the commit')
    },
  })
  await calls.startCall(START)
  await expect(redactions.setRedaction(SETTING)).rejects.toThrow('after the commit')
  await calls.startCall(START)
  expect(stored).toEqual([START.inputs_json, REDACTED])
})
