/** Texts of tool results: bounded, since a model reads them whole. Pure. */
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import type { CallTexts } from '../calls/call-view.ts'
import { parseExact, renderJson } from '../json/json-text.ts'

/** Limit: bytes of the text of a result, as escaped in the response. */
export const TEXT_BYTES_MAX = 100_000

/** Bytes of the result around the items. */
const FRAME_BYTES = 256

/** Returns the bytes of a text inside JSON. */
export function escapedBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  return `${text.slice(0, chars).toWellFormed()} [cut after ${chars} of ${text.length} characters]`
}

/** Returns the value of a JSON text; of one longer than `chars` its beginning, as a text that says so. */
export function cutJson(json: string | null, chars: number): unknown {
  if (json === null) return null
  return json.length > chars ? cutText(json, chars) : parseExact(json)
}

/** Renders a call; a body longer than `bodyChars` is cut, and one that was not read is absent. */
export function renderToolCall(call: CallTexts, bodyChars: number): object {
  const { id, trace_id, parent_id, thread_id, op_name, exception } = call
  const { attributes_json: attributes, inputs_json, output_json, summary_json } = call
  return {
    id,
    trace_id,
    parent_id,
    thread_id,
    op_name,
    started_at: renderTimestamp(call.started_at_us),
    ended_at: renderTimestampOrNull(call.ended_at_us),
    exception: exception === null ? null : cutText(exception, bodyChars),
    inputs: cutJson(inputs_json, bodyChars),
    output: cutJson(output_json, bodyChars),
    summary: cutJson(summary_json, bodyChars),
    ...(attributes === null ? {} : { attributes: cutJson(attributes, bodyChars) }),
  }
}

/** A page of a list. */
interface ToolPage {
  /** Name of the list in the result. */
  readonly field: string
  /** Number of items before the page. */
  readonly offset: number
  /** Maximum number of items; `items` should yield one more where there is one. */
  readonly limit: number
}

/** Renders a list until its limit or that of the text; `next` then says how to read on. */
export async function renderToolList(
  { field, offset, limit }: ToolPage,
  items: AsyncIterable<object>,
): Promise<string> {
  const texts: string[] = []
  let bytes = FRAME_BYTES
  let next = ''
  for await (const item of items) {
    const text = renderJson(item)
    bytes += escapedBytes(text)
    const isTooLong = bytes > TEXT_BYTES_MAX
    if (isTooLong || texts.length === limit) {
      const reason = isTooLong ? 'The result has reached its maximum length' : 'There are more'
      const hint =
        texts.length === 0
          ? 'the first item is too long; use a smaller body_chars'
          : `read on with offset ${offset + texts.length}`
      next = `,"next":${JSON.stringify(`${reason}: ${hint}.`)}`
      break
    }
    texts.push(text)
  }
  return `{${JSON.stringify(field)}:[${texts.join(',')}]${next}}`
}
