/**
 * Token ids and log-probabilities of one choice, added up piece by piece. A list that became too long is left out as
 * a whole, since nobody could tell a part of it from the whole.
 */

type Entry = Readonly<Record<string, unknown>>

export interface TokenParts {
  /** Adds a piece's ids and entries; anything that is no list adds nothing. */
  add(tokenIds: unknown, logprobs: unknown): void
  /** The fields of a whole choice; only those that pieces had. */
  render(): { readonly logprobs?: unknown; readonly token_ids?: unknown }
}

/** What an entry and an id take in JSON beside the entry's own text. Characters. */
const ENTRY_CHARS = 64
const ID_CHARS = 7

/**
 * @param spend - takes characters from what is left; false when there are not as many
 *
 * Spec: §4.3 logprobs, return_token_ids (nothing says what of them is recorded).
 * Choice: the tokens that were drawn, without their alternatives.
 */
export function createTokenParts(spend: (chars: number) => boolean): TokenParts {
  let ids: unknown[] | null = null
  let entries: Entry[] | null = null
  let isWhole = true

  function addIds(pieces: readonly unknown[]): void {
    isWhole &&= spend(pieces.length * ID_CHARS)
    ids ??= []
    if (isWhole) ids.push(...pieces)
  }

  function addEntries(pieces: readonly Entry[]): void {
    entries ??= []
    for (const { token, logprob, bytes } of pieces) {
      const text = String(token ?? '')
      isWhole &&= spend(text.length + ENTRY_CHARS)
      if (isWhole) entries.push({ token, logprob, bytes: bytes ?? null, top_logprobs: [] })
    }
  }

  return {
    add(tokenIds, logprobs) {
      if (Array.isArray(tokenIds)) addIds(tokenIds)
      if (Array.isArray(logprobs)) addEntries(logprobs.filter(isEntry))
    },
    render() {
      if (!isWhole) return {}
      return {
        ...(entries === null ? {} : { logprobs: { content: entries, refusal: null } }),
        ...(ids === null ? {} : { token_ids: ids }),
      }
    },
  }
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null
}
