/** A short summary of the feedback on a call. Pure. */
import { type Feedback, TAG } from '../../api/wire.ts'
import { preview } from '../format.ts'

const NOTE_CHARS = 40

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
    else others.push(`${feedback_type} ${preview(value ?? payload, NOTE_CHARS)}`)
  }
  const counted = [...reactions].map(([emoji, count]) => (count > 1 ? `${emoji} ${count}` : emoji))
  return [...counted, ...others].join(' · ')
}
