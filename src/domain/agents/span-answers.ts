/** Computes answers from the spans of a scope, which every store delivers in order of time. Pure. */
import { ApiError } from '../../errors.ts'
import type { AgentSpanRow } from '../../schemas/agents/agent-spans.ts'
import { layerPrices, type ProjectPrice } from '../prices/project-prices.ts'
import { createKeyPicker, type RowQuery } from '../query/row-query.ts'
import type { AgentSpan } from './agent-span.ts'
import { createAgentGroups } from './groups/agent-groups.ts'
import { createSpanGroups, type GroupPage, type SpanGrouping } from './groups/span-groups.ts'
import { costsOf } from './span-costs.ts'
import { renderSpanRow, type SpanRowShape } from './span-row.ts'
import { spanField } from './span-values.ts'

/** Limit: characters of spans in one answer. */
const ANSWER_CHARS_MAX = 16 * 1024 * 1024

/** Takes each span of a scope once. */
export interface SpanSums<Answer> {
  add(span: AgentSpan): void
  answer(): Answer
}

export function createGroups(grouping: SpanGrouping): SpanSums<GroupPage> {
  return grouping.ofAgents
    ? createAgentGroups(grouping, grouping.ofAgents.agent_name)
    : createSpanGroups(grouping)
}

/** Picks the keys of a page of spans. */
export function createSpanPicker<Key>(page: Pick<RowQuery, 'sort' | 'offset' | 'limit'>) {
  const { add, ...picked } = createKeyPicker<Key, AgentSpan>(page, spanField)
  return {
    ...picked,
    /** @returns true, as spans behind the page are counted, too */
    add(key: Key, seen: AgentSpan | null): true {
      add(key, seen)
      return true
    },
  }
}

/** The rows of a page, in the order in which the spans come. */
export function createSpanRows(shape: SpanRowShape, prices: readonly ProjectPrice[] | null) {
  const table = prices && layerPrices(prices)
  const rows: AgentSpanRow[] = []
  let characters = 0
  return {
    /** @throws ApiError validation_failed when the page is too long */
    add(span: AgentSpan): void {
      const row = renderSpanRow(span, costsOf(span, table), shape)
      characters += JSON.stringify(row).length
      if (characters > ANSWER_CHARS_MAX) throw tooLong()
      rows.push(row)
    },
    rows: (): AgentSpanRow[] => rows,
  }
}

function tooLong(): ApiError {
  const message =
    'The spans of the page are too long for one answer: ask for fewer, or without details.'
  return new ApiError('validation_failed', { param: 'limit', message })
}
