/**
 * Structural tags: answers whose parts have separate constraints. Anything else passes unchanged; the grammar engine
 * refuses it. Pure.
 */
import { isObject } from '../../../domain/json/is-object.ts'
import { toEnginePattern } from './patterns/json-text-pattern.ts'

/** The constraint of a part of a tag: a schema, a grammar or a regular expression. */
type TagContent =
  | { readonly kind: 'schema'; readonly schema: unknown }
  | { readonly kind: 'grammar'; readonly source: string }
  | { readonly kind: 'regex'; readonly pattern: string }

/** The same as the engine is told it. */
export type PartFormat =
  | { readonly type: 'regex'; readonly pattern: string }
  | { readonly type: 'grammar'; readonly grammar: string }

/** The whole answer as one piece of a structural tag: the engine takes a regex in no other way. */
export function toTag(format: PartFormat) {
  return { type: 'structural_tag', format } as const
}

export function toRegexFormat(pattern: string): PartFormat {
  return { type: 'regex', pattern: toEnginePattern(pattern) }
}

/**
 * A tag in its present form, with a `format`.
 *
 * @param tag - in that form, or in the older one with `structures` and `triggers`
 *
 * Spec: §4.3 structured_outputs structural_tag (a string; its form is not shown).
 */
export function toPresentTag(tag: unknown): unknown {
  if (!isObject(tag) || !Array.isArray(tag.structures)) return tag
  const tags = tag.structures.map((one) => {
    const { begin, schema, end } = isObject(one) ? one : {}
    return { type: 'tag', begin, content: { type: 'json_schema', json_schema: schema ?? {} }, end }
  })
  const format = { type: 'triggered_tags', triggers: tag.triggers ?? [], tags }
  return { type: 'structural_tag', format }
}

/** The constraints of the parts of a tag in its present form, in their order. */
export function listTagContents(tag: unknown): TagContent[] {
  const own = contentOf(tag)
  if (own !== null) return [own]
  if (typeof tag !== 'object' || tag === null) return []
  return Object.values(tag).flatMap(listTagContents)
}

/**
 * The tag with other formats in place of the constraints of its parts.
 *
 * @param formats - in the order of `listTagContents`; those that are used are taken off
 */
export function fillTag(tag: unknown, formats: PartFormat[]): unknown {
  if (Array.isArray(tag)) return tag.map((one) => fillTag(one, formats))
  if (!isObject(tag)) return tag
  if (contentOf(tag) !== null) return formats.shift()
  return Object.fromEntries(Object.entries(tag).map(([name, one]) => [name, fillTag(one, formats)]))
}

/** Null for what is none of them; schemas that are not written as JSON stay with the engine. */
function contentOf(tag: unknown): TagContent | null {
  if (!isObject(tag)) return null
  const { type, json_schema: schema, grammar: source, pattern, style = 'json' } = tag
  if (type === 'json_schema' && schema !== undefined && style === 'json') {
    return { kind: 'schema', schema }
  }
  if (type === 'regex' && typeof pattern === 'string') return { kind: 'regex', pattern }
  return type === 'grammar' && typeof source === 'string' ? { kind: 'grammar', source } : null
}
