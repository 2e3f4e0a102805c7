/** A short summary of the feedback on a call. Pure. */
import { isExactNumber, textOf } from '../../api/exact-json.ts'
import { type Feedback, TAG } from '../../api/wire.ts'
import { preview } from '../format.ts'

const NOTE_CHARS = 40
const WORDS_CHARS = 80
/** Limit: members of a payload that are spelled out by their names. */
const MEMBERS_MAX = 8
/** Prefix of the types of scorers. */
const SCORER = 'wandb.runnable.'

/** `👍 2 · rating 4 · a note`: reactions are counted, everything else is spelled out but tags. */
export function summaryOf(
  feedback: readonly Pick<Feedback, 'payload' | 'feedback_type'>[],
): string {
  const reactions = new Map<string, number>()
  const others: string[] = []
  for (const { payload, feedback_type } of feedback) {
    if (feedback_type === TAG) continue
    const { emoji, note, value } = payload
    if (typeof emoji === 'string') reactions.set(emoji, (reactions.get(emoji) ?? 0) + 1)
    else if (typeof note === 'string') others.push(preview(note, NOTE_CHARS))
    else
      others.push(
        preview(`${nameOfType(feedback_type)} ${printMembers(value ?? payload)}`, WORDS_CHARS),
      )
  }
  const counted = [...reactions].map(([emoji, count]) => (count > 1 ? `${emoji} ${count}` : emoji))
  return [...counted, ...others].join(' · ')
}

/** The name of a scorer; of other feedback its type. */
export function nameOfType(feedback_type: string): string {
  return feedback_type.startsWith(SCORER) ? feedback_type.slice(SCORER.length) : feedback_type
}

/** `stars 4, polite true`: the members of a value by their names; one with lists or many members as JSON. */
export function printMembers(value: unknown): string {
  const members = membersOf(value, '')
  if (members === null || members.length > MEMBERS_MAX) return textOf(value)
  return members.join(', ')
}

/** Null for a value that has a list, or nothing, in it. */
function membersOf(value: unknown, name: string): readonly string[] | null {
  if (typeof value !== 'object' || value === null || isExactNumber(value))
    return [`${name} ${textOf(value)}`.trim()]
  const members = Object.entries(value)
  if (Array.isArray(value) || members.length === 0) return null
  const all = members.map(([key, member]) => membersOf(member, key === 'output' ? name : key))
  return all.includes(null) ? null : all.flatMap((one) => one ?? [])
}
