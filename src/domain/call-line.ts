/**
 * One call as one line of JSON. The large bodies are spliced in as the texts that they are stored as, so
 * that none is parsed and no digit is lost. Pure.
 */
import type { JsonObject } from '../schemas/primitives.ts'
import { type CallTexts, type CallViewOptions, renderCall } from './call-view.ts'
import type { CallsShape } from './calls-query.ts'
import { parseLossless, renderJson } from './json-text.ts'

/** The summary of a call, parsed. */
export function parseSummary({ summary_json }: CallTexts): JsonObject {
  return summary_json === null ? {} : (parseLossless(summary_json) as JsonObject)
}

/**
 * Renders a call, equal in content to what a read gives.
 *
 * @param summary - of the call, parsed
 * @param spellOut - writes the names of fields as the reader knows them
 */
export function renderCallLine(
  call: CallTexts,
  summary: JsonObject,
  view: CallViewOptions & {
    readonly shape: CallsShape
    readonly spellOut: <T>(value: T) => T
  },
): string {
  const { attributes_json, inputs_json, output_json, otel_dump_json, summary_json, ...narrow } =
    call
  const empty = { attributes: {}, inputs: {}, otel_dump: null, output: null, summary }
  const { columns, withCosts, withFeedback } = view.shape
  const isShown = (name: string) =>
    columns === null ||
    columns.has(name) ||
    (name === 'summary' && (withCosts || withFeedback)) ||
    (name === 'storage_size_bytes' && view.includeStorageSize) ||
    (name === 'total_storage_size_bytes' && view.totalStorageSizeBytes !== null)
  const rendered = Object.entries(renderCall({ ...narrow, ...empty }, view))
  const small = rendered.filter(([name]) => !SPLICED.has(name) && isShown(name))
  const head = renderJson(view.spellOut(Object.fromEntries(small))).slice(0, -1)
  const attributes = isShown('attributes') ? withSpan(attributes_json, otel_dump_json) : '{}'
  const inputs = (isShown('inputs') && inputs_json) || '{}'
  const output = isShown('output') ? `,"output":${output_json ?? 'null'}` : ''
  return `${head},"attributes":${attributes},"inputs":${inputs}${output}}`
}

const SPLICED = new Set(['attributes', 'inputs', 'output'])

function withSpan(attributes_json: string | null, otel_dump_json: string | null): string {
  if (otel_dump_json === null) return attributes_json ?? '{}'
  const attributes = parseLossless(attributes_json ?? '{}') as JsonObject
  return renderJson({ ...attributes, otel_span: parseLossless(otel_dump_json) })
}
