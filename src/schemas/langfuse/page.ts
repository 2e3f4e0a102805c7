/** Pages of lists in Langfuse's API: by number, or by a cursor. */
import { z } from 'zod'

/** Limits: items of one page, and its number. */
const LIMIT_MAX = 1000
const LIMIT_DEFAULT = 50
const PAGE_MAX = 10_000
const CURSOR_MAX = 256
const LIST_CHARS_MAX = 8192

const limit = z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT)

export const PageQuery = { page: z.coerce.number().int().min(1).max(PAGE_MAX).default(1), limit }

export const CursorQuery = { cursor: z.string().max(CURSOR_MAX).optional(), limit }

/** One or several values: repeated, or joined by commas. */
export function listOf(charsMax: number) {
  const text = z.string().max(LIST_CHARS_MAX)
  return z
    .union([text, z.array(text)])
    .transform((value) => [value].flat().flatMap((part) => part.split(',')))
    .pipe(z.array(z.string().max(charsMax)).max(LIMIT_MAX))
}
