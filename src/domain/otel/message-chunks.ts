/** Joins the chunks of a streamed answer that came as a message each. Pure. */
import { isObject } from '../json/is-object.ts'

/** One message where all but the last have an empty text as their reason to finish; anything else as it is. */
export function joinChunks(value: unknown): unknown {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isObject)) return value
  const isStream = value.every(
    ({ parts, finish_reason }, index) =>
      Array.isArray(parts) && (finish_reason === '') === index < value.length - 1,
  )
  return isStream ? [{ ...value.at(-1), parts: value.flatMap(({ parts }) => parts) }] : value
}
