/**
 * Reads chunks of a chat completion in which the arguments of calls are objects instead of their JSON text. Pure.
 */
import { exceedsDepth, JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'

const OBJECT_ARGUMENTS = /"arguments"\s*:\s*[{[]/

/**
 * Parses a JSON text; `arguments` that are objects or lists become their JSON text, with every digit. Other numbers
 * may be rounded.
 *
 * @throws SyntaxError
 *
 * Spec: §4.3 message tool_calls.
 * Choice: arguments are text everywhere, also from the engines that send objects.
 */
export function parseWithArgumentTexts(json: string): unknown {
  return hasObjectArguments(json) ? JSON.parse(withTexts(json)) : JSON.parse(json)
}

/** Whether a text has such arguments; one that nests too deeply to be written again counts as having none. */
export function hasObjectArguments(json: string): boolean {
  return (
    json.includes('"arguments"') &&
    OBJECT_ARGUMENTS.test(json) &&
    !exceedsDepth(json, JSON_DEPTH_MAX)
  )
}

function withTexts(json: string): string {
  return JSON.stringify(parseLossless(json), (key, value) =>
    key === 'arguments' && typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
      ? renderJson(value)
      : value,
  )
}
