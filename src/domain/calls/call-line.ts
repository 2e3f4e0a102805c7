/**
 * Writes a call as one line of JSON. The large bodies are inserted as their stored texts, so that none is parsed
 * and no digit is lost. Pure.
 */
import type { JsonObject } from '../../schemas/primitives.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { previewBody, restOf } from './body-preview.ts'
import {
  type CallTexts,
  type CallViewOptions,
  type PreviewedBody,
  renderCall,
  withOtelSpan,
} from './call-view.ts'
import { type CallsShape, showsSummary } from './calls-query.ts'

/** The summary of a call, parsed. */
export function parseSummary({ summary_json }: CallTexts): JsonObject {
  return summary_json === null ? {} : (parseLossless(summary_json) as JsonObject)
}

/**
 * Renders a call with the same content as a read of it returns.
 *
 * @param summary - of the call, parsed
 * @param toWireNames - writes the names of fields as the reader knows them
 */
export function renderCallLine(
  call: CallTexts,
  summary: JsonObject,
  view: LineView & { readonly toWireNames: <T>(value: T) => T },
): string {
  const { attributes_json, inputs_json, output_json, otel_dump_json, summary_json, ...narrow } =
    call
  const empty = { attributes: {}, inputs: {}, otel_dump: null, output: null, summary }
  const {
    attributes: _a,
    inputs: _i,
    output: _o,
    ...small
  } = renderCall({ ...narrow, ...empty }, view)
  const shown = view.shape.columns === null ? small : pickShown(small, view)
  const head = renderJson(view.toWireNames(shown)).slice(0, -1)
  const textOf = (body: PreviewedBody, text: string) =>
    view.shape.previewed === null ? text : previewBody(text, restOf(view.shape.previewed, body))
  const attributes = isShown('attributes', view)
    ? textOf('attributes', withSpan(attributes_json, otel_dump_json))
    : '{}'
  const inputs = isShown('inputs', view) ? textOf('inputs', inputs_json ?? '{}') : '{}'
  const output = isShown('output', view)
    ? `,"output":${textOf('output', output_json ?? 'null')}`
    : ''
  return `${head},"attributes":${attributes},"inputs":${inputs}${output}}`
}

type LineView = CallViewOptions & { readonly shape: CallsShape }

function pickShown(small: object, view: LineView): object {
  return Object.fromEntries(Object.entries(small).filter(([name]) => isShown(name, view)))
}

/** Whether a field is written: requested columns, and fields that other options add. */
function isShown(name: string, view: LineView): boolean {
  const { columns } = view.shape
  if (columns === null || columns.has(name)) return true
  if (name === 'summary') return showsSummary(view.shape)
  if (name === 'storage_size_bytes') return view.includeStorageSize
  return name === 'total_storage_size_bytes' && view.totalStorageSizeBytes !== null
}

function withSpan(attributes_json: string | null, otel_dump_json: string | null): string {
  if (otel_dump_json === null) return attributes_json ?? '{}'
  const attributes = parseLossless(attributes_json ?? '{}') as JsonObject
  return renderJson(withOtelSpan(attributes, parseLossless(otel_dump_json) as JsonObject))
}
