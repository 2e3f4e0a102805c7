/** Reads parts in the format of the Gemini API, which Google's ADK writes for all models. Pure. */
import { isObject } from '../../json/is-object.ts'

type Json = Readonly<Record<string, unknown>>

/** The part in the spelling of the conventions; any other part is returned as it is. */
export function readGeminiPart(part: Json): Json {
  if (part.type !== undefined || part.part_kind !== undefined) return part
  const { function_call, function_response, thought, text } = part
  if (isObject(function_call)) {
    const { id, name, args } = function_call
    return { type: 'tool_call', id, name, arguments: args }
  }
  if (isObject(function_response)) {
    const { id, response } = function_response
    return { type: 'tool_call_response', id, response }
  }
  return thought === true && typeof text === 'string' ? { type: 'reasoning', content: text } : part
}
