/** Apart from the other rules: the model's process needs it, and starts without the schemas. */
import type { ResponseFormat } from '../../schemas/chat/structured-outputs.ts'
import { isGiven } from '../json/json-values.ts'

/**
 * The kind of a response format; null when the format is an empty object.
 *
 * Spec: §4.3 response_format (shows json_schema and no type).
 * Choice: without a type, a given json_schema makes it json_schema.
 */
export function resolveResponseFormatType(format: ResponseFormat): ResponseFormat['type'] | null {
  return format.type ?? (isGiven(format.json_schema) ? 'json_schema' : null)
}
