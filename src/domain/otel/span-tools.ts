/** Converts the tools that a model was offered. Pure. */
import { isObject } from '../json/is-object.ts'
import { parseText } from './span-reader.ts'

/** Tools as they were sent, out of JSON and of OpenInference's wrapper; what is no list is left unchanged. */
export function toTools(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.flatMap((item): unknown => {
    const parsed = parseText(item)
    if (!isObject(parsed)) return [parsed]
    // A tool of Gemini is a list of functions.
    if (Array.isArray(parsed.function_declarations)) return parsed.function_declarations
    const tool = isObject(parsed.tool) ? parsed.tool : parsed
    return [parseText(tool.json_schema ?? withSchema(tool))]
  })
}

/** A tool whose schema is not JSON as a text, as attributes for each of its fields have it. */
function withSchema(tool: Record<string, unknown>): Record<string, unknown> {
  const schemas = ['parameters', 'input_schema'].filter((key) => typeof tool[key] === 'string')
  return { ...tool, ...Object.fromEntries(schemas.map((key) => [key, parseText(tool[key])])) }
}
