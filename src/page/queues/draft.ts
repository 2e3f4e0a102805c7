/** A judgement that is not sent yet. Pure. */
import type { Given } from '../api/feedback.ts'

export interface Draft {
  readonly emoji: string
  readonly number: string
  /** Kind of feedback that the number is. */
  readonly name: string
  readonly note: string
}

export const EMPTY: Draft = { emoji: '', number: '', name: 'rating', note: '' }

/** The contents of a draft by its parts. */
export function givenIn({ emoji, number, name, note }: Draft): [keyof Draft, Given][] {
  const given: [keyof Draft, Given][] = []
  if (emoji !== '') given.push(['emoji', { kind: 'reaction', emoji }])
  if (number !== '') given.push(['number', { kind: 'number', name, value: Number(number) }])
  if (note.trim() !== '') given.push(['note', { kind: 'note', note: note.trim() }])
  return given
}
