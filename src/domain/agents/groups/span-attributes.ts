/** Counts the custom attributes of spans. Pure. */
import type { SpanAttributesResponse } from '../../../schemas/agents/agent-stats.ts'
import { type AgentSpan, type CustomSource, readCustomAttributes } from '../agent-span.ts'
import { createBudget } from './span-measures.ts'

/** Limit: different keys of one response, before its page is cut out. */
const KEYS_MAX = 100_000

export interface AttributesPage {
  readonly limit: number
  readonly offset: number
}

type Attribute = SpanAttributesResponse['attributes'][number]

/** The counts of attributes. @throws ApiError validation_failed for too many keys */
export function createSpanAttributes({ limit, offset }: AttributesPage) {
  const budget = createBudget(KEYS_MAX)
  const found = new Map<string, Attribute>()
  return {
    add(span: AgentSpan): void {
      for (const [source, values] of Object.entries(readCustomAttributes(span))) {
        for (const key of Object.keys(values)) {
          const id = idOf(source, key)
          const known = found.get(id)
          if (known) {
            known.span_count += 1
            continue
          }
          budget.take()
          found.set(id, openAttribute(source as CustomSource, key))
        }
      }
    },
    result(): SpanAttributesResponse {
      const all = joinNumbers(found).sort(compare)
      const attributes = all.slice(offset, offset + limit)
      return { attributes, has_more: offset + limit < all.length, limit, offset }
    },
  }
}

function idOf(source: string, key: string): string {
  return `${source} ${key}`
}

/** The attributes of spans; whole numbers count as fractions where others of the key are. */
function joinNumbers(found: ReadonlyMap<string, Attribute>): Attribute[] {
  return [...found.values()].flatMap((one) => {
    const [whole, fraction] = ['custom_attrs_int', 'custom_attrs_float'].map((source) =>
      found.get(idOf(source, one.key)),
    )
    if (one === whole && fraction) return []
    if (one !== fraction || !whole) return [one]
    return [{ ...one, span_count: one.span_count + whole.span_count }]
  })
}

function openAttribute(source: CustomSource, key: string): Attribute {
  const value_type = source.replace('custom_attrs_', '') as Attribute['value_type']
  return { key, source, value_type, span_count: 1 }
}

function compare(left: Attribute, right: Attribute): number {
  if (left.span_count !== right.span_count) return right.span_count - left.span_count
  return left.key < right.key ? -1 : Number(left.key > right.key)
}
