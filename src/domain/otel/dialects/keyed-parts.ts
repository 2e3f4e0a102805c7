/**
 * Reads parts that have no type and are named by their key, of the Gemini API in both spellings, of Genkit and Haystack, and
 * those of Azure, which wrap an item of OpenAI's Responses. Pure.
 */
import { isObject } from '../../json/is-object.ts'

type Json = Readonly<Record<string, unknown>>

/** The part in the spelling of the conventions; any other part is returned as it is. */
export function readKeyedPart(part: Json): Json {
  if (part.type !== undefined || part.part_kind !== undefined) return readWrappedPart(part)
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
  const answered = part.tool_call_result
  if (isObject(answered)) {
    const { origin, result: response } = answered
    return { type: 'tool_call_response', id: isObject(origin) ? origin.id : null, response }
  }
  const { thought, text, reasoning, media } = part
  if (thought === true && typeof text === 'string') return { type: 'reasoning', content: text }
  if (isObject(reasoning)) return { type: 'reasoning', content: reasoning.reasoning_text }
  if (typeof reasoning === 'string') return { type: 'reasoning', content: reasoning }
  if (isObject(media) && typeof media.url === 'string') {
    return { type: 'uri', uri: media.url, mime_type: media.contentType }
  }
  return part
}

/** A call of a tool, or its result, within the content of a part, as azure-ai-projects (2.10) writes it. */
function readWrappedPart(part: Json): Json {
  const { type, content } = part
  if (!isObject(content)) return part
  if (type === 'tool_call') {
    const { id, type: kind, function: called, ...rest } = content
    return { type, id, ...(isObject(called) ? called : { name: kind, arguments: rest }) }
  }
  if (type === 'tool_call_output') {
    return { type: 'tool_call_response', id: content.id, response: content.output }
  }
  return part
}
