/**
 * Collects the token ids and log-probabilities of one choice piece by piece. A list that becomes too long is dropped
 * entirely, since a partial list would look complete.
 */
import { isObject } from '../../../domain/json/is-object.ts'
import { sizeOf } from './streamed-content.ts'

type Entry = Readonly<Record<string, unknown>>

export interface TokenParts {
  /** Adds the ids and entries of a piece; ignores values that are not lists. */
  add(tokenIds: unknown, logprobs: Entry): void
  /** Returns the fields for a whole choice; only those that occurred in pieces. */
  render(): { readonly logprobs?: unknown; readonly token_ids?: unknown }
}

/** The log-probabilities of a text, and of a refusal. */
const LISTS = ['content', 'refusal'] as const

/** Characters of JSON that an entry and an id take in addition to the entry's text. */
const ENTRY_CHARS = 64
const ID_CHARS = 7

/**
 * @param spend - takes characters from the remaining budget; returns false when too few are left
 *
 * Spec: §4.3 logprobs, return_token_ids (nothing says what of them is recorded).
 * Choice: only the sampled tokens, without alternatives.
 */
export function createTokenParts(spend: (chars: number) => boolean): TokenParts {
  let ids: unknown[] | null = null
  const entries: Partial<Record<(typeof LISTS)[number], Entry[]>> = {}
  let isWhole = true

  function addIds(pieces: readonly unknown[]): void {
    isWhole &&= spend(pieces.length * ID_CHARS)
    ids ??= []
    if (isWhole) for (const id of pieces) ids.push(id)
  }

  function addEntries(list: Entry[], pieces: readonly Entry[]): void {
    for (const { token, logprob, bytes } of pieces) {
      isWhole &&= spend(charsOf(token) + ENTRY_CHARS)
      if (isWhole) list.push({ token, logprob, bytes: bytes ?? null, top_logprobs: [] })
    }
  }

  return {
    add(tokenIds, logprobs) {
      if (Array.isArray(tokenIds)) addIds(tokenIds)
      for (const name of LISTS) {
        const pieces = logprobs[name]
        if (!Array.isArray(pieces)) continue
        entries[name] ??= []
        addEntries(entries[name], pieces.filter(isObject))
      }
    },
    render() {
      if (!isWhole) return {}
      const { content = null, refusal = null } = entries
      return {
        ...((content ?? refusal) ? { logprobs: { content, refusal } } : {}),
        ...(ids === null ? {} : { token_ids: ids }),
      }
    },
  }
}

function charsOf(token: unknown): number {
  return typeof token === 'string' ? token.length : sizeOf(token ?? '')
}
