/** Reads parts that have no type and are named by their key: of the Gemini API in both spellings, and of Genkit. Pure. */
import { isObject } from '../../json/is-object.ts'

type Json = Readonly<Record<string, unknown>>

/** The part in the spelling of the conventions; any other part is returned as it is. */
export function readKeyedPart(part: Json): Json {
  if (part.type !== undefined || part.part_kind !== undefined) return part
  const call = part.function_call ?? part.functionCall ?? part.toolRequest
  if (isObject(call)) {
    return {
      type: 'tool_call',
      id: call.id ?? call.ref,
      name: call.name,
      arguments: call.args ?? call.input,
    }
  }
  const result = part.function_response ?? part.functionResponse ?? part.toolResponse
  if (isObject(result)) {
    return {
      type: 'tool_call_response',
      id: result.id ?? result.ref,
      response: result.response ?? result.output,
    }
  }
  const { thought, text, reasoning, media } = part
  if (thought === true && typeof text === 'string') return { type: 'reasoning', content: text }
  if (typeof reasoning === 'string') return { type: 'reasoning', content: reasoning }
  if (isObject(media) && typeof media.url === 'string') {
    return { type: 'uri', uri: media.url, mime_type: media.contentType }
  }
  return part
}
