import { expect, it } from 'vitest'
import {
  type ChildReport,
  createNestedReports,
  markOf,
} from '../../../src/store/clickhouse/calls/write/nested-reports.ts'
import { usageOf } from '../../stats/support/segment-calls.ts'

const project_id = 'acme/demo'

function childOf(parent_id: string | null, id: string, models = ['m']): ChildReport {
  return { project_id, id, parent_id, usage: models.map((model) => usageOf(model, 5, 1)) }
}

it('reports of children and their marks add up until the parent takes them', () => {
  const nested = createNestedReports()
  const children = [childOf('p', 'a'), childOf('p', 'b', ['m', 'n']), childOf('q', 'c')]
  children.forEach(nested.add)
  const [a, b] = children.map(markOf)
  const taken = nested.take(project_id, 'p')
  expect(taken?.mark).toBe(BigInt.asUintN(64, (a ?? 0n) + (b ?? 0n)))
  expect(taken?.sums.get('m')).toMatchObject({ requests: 2, input_tokens: 10, total_tokens: 12 })
  expect(taken?.sums.get('n')).toMatchObject({ input_tokens: 5 })
  expect(nested.take(project_id, 'p')).toBeNull()
  expect(nested.take('acme/other', 'q')).toBeNull()
})

it('only a report below another call is marked', () => {
  const nested = createNestedReports()
  const none = [childOf(null, 'a'), childOf('a', 'a'), childOf('p', 'a', [])]
  expect(none.map(markOf)).toEqual([0n, 0n, 0n])
  none.forEach(nested.add)
  expect(['p', 'a'].map((id) => nested.take(project_id, id))).toEqual([null, null])
})

it('the least recently named parents are evicted', () => {
  const nested = createNestedReports(6)
  for (const parent of ['p', 'q', 'p', 'r']) nested.add(childOf(parent, `of-${parent}`))
  nested.add(childOf('r', 'wide', ['m', 'n']))
  nested.add(childOf('s', 'of-s'))
  const known = ['p', 'q', 'r', 's'].map((id) => nested.take(project_id, id)?.sums.size ?? 0)
  expect(known).toEqual([0, 0, 2, 1])
  nested.add(childOf('t', 'too-wide', ['a', 'b', 'c', 'd', 'e', 'f']))
  expect(nested.take(project_id, 't')).toBeNull()
})
