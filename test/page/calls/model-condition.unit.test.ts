import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../../src/domain/query/query-expression.ts'
import { createMatcher } from '../../../src/domain/query/query-matcher.ts'
import { modelCondition } from '../../../src/page/calls/search/model-condition.ts'

const REPORT = {
  prompt_tokens: 4,
  completion_tokens: 20,
  total_tokens: 24,
  requests: 1,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: null },
}

const CALLS: Readonly<Record<string, object>> = {
  mini: { summary: { usage: { 'gpt-4o-mini': REPORT } } },
  both: { summary: { usage: { 'gpt-4.1': REPORT, total: REPORT } } },
  asked: { inputs: { model: 'Qwen/Qwen3-4B' }, summary: {} },
  plain: { inputs: { model: '4' }, summary: { usage: { 'a "b"': REPORT } } },
}

/** The calls that the server would find. */
function findCalls(name: string): string[] {
  const fields = new Set(['inputs', 'summary'])
  const expression = parseQuery({ $expr: modelCondition(name) }, { fields })
  const valueAt = (call: unknown, path: readonly string[]) =>
    path.reduce((at, part) => (at as Record<string, unknown> | undefined)?.[part], call)
  const matches = createMatcher(expression)
  return Object.keys(CALLS).filter((id) => matches((path) => valueAt(CALLS[id], path)))
}

describe('the filter for a model', () => {
  it.each([
    ['gpt', ['mini', 'both']],
    ['GPT-4o', ['mini']],
    ['4o', ['mini']],
    ['gpt-4.1', ['both']],
    ['qwen3', ['asked']],
    ['Qwen/Qwen3-4B', ['asked']],
    ['a "b"', ['plain']],
  ])('finds %s in names, by a part', (name, ids) => expect(findCalls(name)).toEqual(ids))

  it.each([
    ['total', ['both']],
    ['tokens', []],
    ['completion_tokens', []],
    ['prompt', []],
    ['details', []],
    ['null', []],
    ['o', []],
    ['4', ['plain']],
    ['4.1', []],
    ['24', []],
  ])('takes %s for a whole name', (name, ids) => expect(findCalls(name)).toEqual(ids))
})
