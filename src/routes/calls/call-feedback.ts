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
    if (!isWanted) {
      yield page.map((listed) => ({ ...listed, feedback: null }))
      continue
    }
    const refs = page.map(({ call }) => refsOf(call, refScheme))
    const about = await feedback.listAbout(refs.flat(), caller)
    let at = 0
    yield page.map((listed, index) => {
      const rows = (refs[index] ?? []).flatMap(() => about[at++] ?? [])
      return { ...listed, feedback: render(rows) }
    })
  }
}

/** The refs of feedback about a call: its own and, of a root, that of its trace, which may be known before the root. */
function refsOf(call: ListedCall['call'], refScheme: string): string[] {
  const { project_id, id, trace_id, parent_id } = call
  const isRoot = parent_id === null && trace_id !== id
  return [id, ...(isRoot ? [trace_id] : [])].map((about) => callRef(refScheme, project_id, about))
}

function render(rows: readonly FeedbackRow[]): string[] {
  return rows.map(renderWholeFeedback)
}
