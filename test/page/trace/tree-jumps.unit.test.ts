import { describe, expect, it } from 'vitest'
import type { Call } from '../../../src/page/api/wire.ts'
import { kindOfCall } from '../../../src/page/trace/call-kind.ts'
import { buildTrees, firstErrorOf, listRows, slowestOf } from '../../../src/page/trace/tree.ts'

const START_MS = Date.parse('2026-01-31T12:00:00Z')
const timeOf = (ms: number) => new Date(START_MS + ms).toISOString()

function callOf(
  id: string,
  parent_id: string | null,
  [from, to]: [number, number],
  status = 'success',
) {
  const ended_at = to === Number.POSITIVE_INFINITY ? null : timeOf(to)
  const summary = { weave: { status } }
  return {
    id,
    parent_id,
    started_at: timeOf(from),
    ended_at,
    op_name: id,
    summary,
  } as unknown as Call
}

const rowsOf = (calls: Call[]) => listRows(buildTrees(calls), new Set())

describe('jumps in a trace', () => {
  it('lead to the failed call below which none failed', () => {
    const rows = rowsOf([
      callOf('root', null, [0, 100], 'error'),
      callOf('a', 'root', [0, 10]),
      callOf('b', 'root', [10, 50], 'error'),
      callOf('c', 'b', [10, 40], 'error'),
      callOf('d', 'root', [50, 60], 'error'),
    ])
    expect(firstErrorOf(rows)).toBe('c')
    expect(firstErrorOf(rows.slice(0, 1))).toBe('root')
    expect(firstErrorOf(rows.slice(1, 2))).toBeNull()
    expect(firstErrorOf([])).toBeNull()
  })

  it('lead to the call with the most time of its own, without calls below that overlap', () => {
    const rows = rowsOf([
      callOf('root', null, [0, 100]),
      callOf('a', 'root', [0, 60]),
      callOf('b', 'root', [20, 80]),
      callOf('c', 'b', [25, 79]),
    ])
    expect(slowestOf(rows, START_MS + 100)).toBe('a')
    const running = rowsOf([
      callOf('root', null, [0, 100]),
      callOf('open', 'root', [90, Number.POSITIVE_INFINITY]),
    ])
    expect(slowestOf(running, START_MS + 500)).toBe('open')
    expect(slowestOf(running, START_MS + 100)).toBe('root')
    expect(slowestOf([], START_MS)).toBeNull()
  })
})

describe('the kind of a call', () => {
  const stepOf = (name: string, more = {}) =>
    kindOfCall({ name, recorded: undefined, usage: undefined, isLeaf: true, ...more }).label

  it.each([
    ['openai.chat.completions.create', 'model'],
    ['anthropic.messages.create', 'model'],
    ['openai.embeddings.create', 'embedding'],
    ['support_agent', 'agent'],
    ['Evaluation.evaluate', 'score'],
    ['retrieve_documents', 'retrieval'],
    ['refund', 'operation'],
  ])('of %s is %s by its name', (name, label) => {
    expect(stepOf(name)).toBe(label)
  })

  it('is what was recorded, or a model for a leaf that reports usage', () => {
    expect(stepOf('support_agent', { recorded: 'tool' })).toBe('tool')
    expect(stepOf('support_agent', { recorded: 'constructor' })).toBe('agent')
    const usage = { 'gpt-4o': {} }
    expect(stepOf('ask', { usage })).toBe('model')
    expect(stepOf('ask', { usage, isLeaf: false })).toBe('operation')
    expect(stepOf('ask', { usage: {} })).toBe('operation')
  })
})
