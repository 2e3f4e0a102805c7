/** A rating that is not sent yet. Pure. */
import type { Given } from '../api/feedback.ts'

export interface Draft {
  readonly emoji: string
  readonly number: string
  /** Feedback type of the number. */
  readonly name: string
  readonly note: string
  /** Whether a part was already sent and removed. */
  readonly isBegun: boolean
}

type Part = 'emoji' | 'number' | 'note'

export const EMPTY: Draft = { emoji: '', number: '', name: 'rating', note: '', isBegun: false }

/** The contents of a draft by its parts. */
export function givenIn({ emoji, number, name, note }: Draft): [Part, Given][] {
  const given: [Part, Given][] = []
  if (emoji !== '') given.push(['emoji', { kind: 'reaction', emoji }])
  if (number !== '') given.push(['number', { kind: 'number', name, value: Number(number) }])
  if (note.trim() !== '') given.push(['note', { kind: 'note', note: note.trim() }])
  return given
}

/** Whether the draft is empty. */
export function isEmpty(draft: Draft): boolean {
  return !draft.isBegun && givenIn(draft).length === 0
}
