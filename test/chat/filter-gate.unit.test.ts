import { describe, expect, it } from 'vitest'
import type { Delta } from '../../src/inference/backend.ts'
import { gateFiltered, isFilteredResponse } from '../../src/inference/chat/filter-gate.ts'
import { piece, prompt } from '../support/scripted-backend.ts'

const relayed = (...values: Record<string, unknown>[]): Delta => ({
  type: 'relayed',
  texts: values.map((value) => ({ json: JSON.stringify(value), value })),
})
const START = { type: 'message_start', message: { content: [] } }
const REFUSAL = { type: 'message_delta', delta: { stop_reason: 'refusal' } }
const INCOMPLETE = { incomplete_details: { reason: 'content_filter' } }
const ping = () => relayed({ type: 'ping' })

async function gate(...deltas: Delta[]) {
  const passed: Delta[] = []
  let error: unknown = null
  async function* source() {
    yield* deltas
  }
  try {
    for await (const delta of gateFiltered(source())) passed.push(delta)
  } catch (thrown) {
    error = thrown
  }
  return { passed, error }
}

describe('gateFiltered', () => {
  it.each<[string, Delta[]]>([
    ['a whole message', [relayed({ type: 'message', stop_reason: 'refusal', content: [] })]],
    ['a streamed message', [relayed(START), ping(), relayed(REFUSAL)]],
    ['a whole response', [relayed({ object: 'response', ...INCOMPLETE })]],
    [
      'a streamed response',
      [
        relayed({ type: 'response.created', response: {} }),
        relayed({ type: 'response.incomplete', response: INCOMPLETE }),
      ],
    ],
    [
      'a legacy completion',
      [relayed({ choices: [{ text: '', finish_reason: 'content_filter' }] })],
    ],
  ])('refuses %s that a filter ended, and yields nothing of it', async (_name, deltas) => {
    const { passed, error } = await gate(...deltas)
    expect(passed).toEqual([])
    expect(error).toMatchObject({ code: 'content_filter' })
    expect(isFilteredResponse(error)).toBe(true)
  })

  it.each<[string, Delta[]]>([
    [
      'one of whose choices ended otherwise',
      [relayed({ choices: [{ finish_reason: 'content_filter' }, { finish_reason: 'stop' }] })],
    ],
    [
      'with text before the end',
      [
        relayed(START),
        relayed({ type: 'content_block_delta', delta: { text: 'I' } }),
        relayed(REFUSAL),
      ],
    ],
    ['that was made here', [prompt(), piece('a')]],
    ['without an end', [prompt(), ping()]],
    ['with a long silence', [...Array.from({ length: 65 }, ping), relayed(REFUSAL)]],
  ])('yields a response %s unchanged', async (_name, deltas) => {
    expect(await gate(...deltas)).toEqual({ passed: deltas, error: null })
  })
})
