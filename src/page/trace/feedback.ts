/** Feedback on a call, and controls to add a reaction, a note or a number. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { type Call, type Feedback, factsOf, TAG } from '../api/wire.ts'
import { nameOfType, printMembers } from '../parts/calls/feedback-summary.ts'
import { GiveFeedback } from '../parts/calls/give-feedback.ts'
import { formatTime } from '../parts/format.ts'
import { LongText } from '../parts/values/json-tree.ts'

interface FeedbackBoxProps {
  readonly project: string
  readonly call: Call
  readonly onChange: () => void
}

export function FeedbackBox({ project, call, onChange }: FeedbackBoxProps) {
  const given = (factsOf(call).feedback ?? []).filter(({ feedback_type }) => feedback_type !== TAG)
  return html`<ul class="feedback">
      ${given.map(
        (item) => html`<li key=${item.id}>
        <b><${LongText} text=${wordsFor(item)} /></b>${' '}
        <span class="faint">${nameOfType(item.feedback_type)} · ${item.creator ?? item.svc_user_id ?? 'unnamed'} · ${formatTime(item.created_at, false)}</span>
      </li>`,
      )}
    </ul>
    ${may('traces:write') ? html`<${GiveFeedback} project=${project} call=${call.id} onGiven=${onChange} />` : html`<p class="faint">The key may not add feedback (it lacks traces:write).</p>`}`
}

function wordsFor({ payload }: Feedback): string {
  const { emoji, note, value } = payload
  return printMembers(emoji ?? note ?? value ?? payload)
}
