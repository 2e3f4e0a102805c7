/** Finds the words in which two texts differ. Pure. */
import { align, type Step } from '../align.ts'

/** Limit: words and signs of a text that are aligned. */
const TOKENS_MAX = 2000
const TOKEN = /\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu
const WORD = /[\p{L}\p{N}]/u

/** A stretch of a text that is in both texts or in one of them. */
export interface TextChange {
  readonly kind: Step['kind']
  readonly text: string
}

/** The text after, with what was removed from the text before; null when they have no word in common or are too long. */
export function listTextChanges(before: string, after: string): readonly TextChange[] | null {
  const from: readonly string[] = before.match(TOKEN) ?? []
  const to: readonly string[] = after.match(TOKEN) ?? []
  if (Math.max(from.length, to.length) > TOKENS_MAX) return null
  const parts: TextChange[] = []
  for (const step of align(from, to)) {
    const text = (step.kind === 'added' ? to[step.after] : from[step.before]) ?? ''
    const last = parts.at(-1)
    if (last?.kind === step.kind)
      parts[parts.length - 1] = { kind: step.kind, text: last.text + text }
    else parts.push({ kind: step.kind, text })
  }
  return parts.some(({ kind, text }) => kind === 'same' && WORD.test(text)) ? parts : null
}
