/** When the settings of projects take effect. */
import { expect, it, onTestFinished } from 'vitest'
import type { CallStart } from '../../src/domain/calls/new-call.ts'
import { createRedactingStores } from '../../src/redaction/redacting-stores.ts'

type StoresToRedact = Parameters<typeof createRedactingStores>[0]
type Setting = Awaited<ReturnType<StoresToRedact['redactions']['listRedactions']>>

const START = { project_id: 'acme/demo', id: 'c1', start_size_bytes: 10, attributes_json: '{}' }
const SETTING = { project_id: 'acme/demo', rules_json: '{"kinds":["email"]}' }

it('a setting holds for calls after it, also when the older one was being read meanwhile', async () => {
  const reads: PromiseWithResolvers<Setting>[] = []
  const stored: string[] = []
  const { calls, redactions, close } = createRedactingStores({
    calls: {
      async startCall({ id, inputs_json }: CallStart) {
        stored.push(inputs_json)
        return { id, trace_id: id }
      },
    },
    recordings: {},
    redactions: {
      listRedactions() {
        const read = Promise.withResolvers<Setting>()
        reads.push(read)
        return read.promise
      },
      setRedaction: async () => {},
    },
  } as unknown as StoresToRedact)
  onTestFinished(close)
  const start = { ...START, inputs_json: '{"to":"ann@mail.example"}' } as CallStart
  const before = calls.startCall(start)
  await redactions.setRedaction(SETTING)
  reads[0]?.resolve([])
  await before
  const after = calls.startCall(start)
  await expect.poll(() => reads.length + stored.length).toBeGreaterThan(2)
  reads[1]?.resolve([SETTING])
  await after
  expect(stored[1]).toBe('{"to":"[redacted:email]"}')
})
