/** Whether a value is a JSON object. Pure. */

/**
 * Whether a parsed value is a JSON object: neither null nor a list. A number that was kept as its text
 * (`JSON.rawJSON`) passes; callers that parse so ask for it before.
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
