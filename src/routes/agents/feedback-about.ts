/** Reads the feedback that chats show. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { type FeedbackByRef, renderChatFeedback } from '../../domain/agents/chat-feedback.ts'
import { ApiError } from '../../errors.ts'
import type { ChatFeedback } from '../../schemas/agents/agent-chat.ts'
import type { FeedbackStore } from '../../store/api/feedback/feedback.ts'

/** Limit: feedback of one answer. */
const FEEDBACK_MAX = 10_000
const REFS_AT_ONCE = 100

/** @throws ApiError validation_failed when there is more than one answer can hold; what the store throws */
export async function findChatFeedback(
  feedback: FeedbackStore,
  refs: readonly string[],
  caller: ReadCaller,
): Promise<FeedbackByRef> {
  const found = new Map<string, ChatFeedback[]>()
  let count = 0
  for (let at = 0; at < refs.length; at += REFS_AT_ONCE) {
    const some = refs.slice(at, at + REFS_AT_ONCE)
    for (const [place, rows] of (await feedback.listAbout(some, caller)).entries()) {
      count += rows.length
      if (count > FEEDBACK_MAX) throw tooMany()
      if (rows.length > 0) found.set(some[place] ?? '', rows.map(renderChatFeedback))
    }
  }
  return found
}

function tooMany(): ApiError {
  const message = `There is more feedback than the ${FEEDBACK_MAX} that one answer can hold: ask for fewer turns or conversations.`
  return new ApiError('validation_failed', { message })
}
