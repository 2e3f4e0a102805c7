/** Joins feedback to calls; feedback may be in another store. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { callRef } from '../../domain/calls/call-ref.ts'
import { type FeedbackRow, renderWholeFeedback } from '../../domain/feedback/feedback-view.ts'
import type { ListedCall } from '../../store/api/calls/calls.ts'
import type { Stores } from '../../store/api/stores.ts'

export interface CallWithFeedback extends ListedCall {
  /** JSON texts, oldest first; null unless requested. */
  readonly feedback: readonly string[] | null
}

export interface FeedbackJoin extends Pick<Stores, 'feedback'> {
  /** Scheme of the refs by which feedback is found. */
  readonly refScheme: string
}

/** @param isWanted - false leaves feedback null */
export async function* joinFeedback(
  pages: AsyncIterable<readonly ListedCall[]>,
  isWanted: boolean,
  { feedback, refScheme }: FeedbackJoin,
  caller: ReadCaller,
): AsyncGenerator<readonly CallWithFeedback[]> {
  for await (const page of pages) {
    const refs = page.map(({ call }) => callRef(refScheme, call.project_id, call.id))
    const about = isWanted ? await feedback.listAbout(refs, caller) : null
    yield page.map((listed, at) => ({ ...listed, feedback: about && render(about[at] ?? []) }))
  }
}

function render(rows: readonly FeedbackRow[]): string[] {
  return rows.map(renderWholeFeedback)
}
