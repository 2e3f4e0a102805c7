/** When the settings of projects take effect. */
import { expect, it, onTestFinished } from 'vitest'
import type { SpanLog } from '../../src/domain/calls/call-logs.ts'
import type { CallStart } from '../../src/domain/calls/new-call.ts'
import { packCalls } from '../../src/domain/calls/packed-calls.ts'
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

/** Stores that only note what would be stored. */
function open(redactions: Redactions) {
  const stored: unknown[] = []
  const calls = {
    async startCall({ id, inputs_json }: CallStart) {
      stored.push(inputs_json)
      return { id, trace_id: id }
    },
    async writePacked(packed: Uint8Array) {
      stored.push(packed)
      return { starts: 0, ends: 0, exceptions: [] }
    },
    async writeLogs({ logs }: { readonly logs: readonly SpanLog[] }) {
      stored.push(...logs.map(({ event_json }) => event_json))
      return 0
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

const ONE_SET: Redactions = {
  listRedactions: async () => [SETTING],
  setRedaction: async () => {},
}

it.each([
  ['little', 'a'],
  ['much', 'a'.repeat(100_000)],
])(
  'a packed batch of projects without a setting is passed on as it came, with %s text',
  async (_, text) => {
    const { calls, stored } = open(ONE_SET)
    const start = { ...START, project_id: 'acme/other', inputs_json: JSON.stringify(text) }
    const packed = packCalls([{ start, end: null }])
    await calls.writePacked(packed, ['acme/other'])
    expect(stored[0]).toBe(packed)
  },
)

it.each([
  ['little', 'a'],
  ['much', 'a'.repeat(100_000)],
])('logs are redacted in projects with a setting alone, with %s text', async (_, text) => {
  const { calls, stored } = open(ONE_SET)
  const event_json = JSON.stringify([text, 'ann@mail.example'])
  const log = { trace_id: 't', span_id: 's', event_json }
  const logs = ['acme/demo', 'acme/other'].map((project_id) => ({ ...log, project_id }))
  await calls.writeLogs({ logs, received_at_us: 1, ref_scheme: 'weave' })
  expect(stored).toEqual([JSON.stringify([text, '[redacted:email]']), event_json])
})
