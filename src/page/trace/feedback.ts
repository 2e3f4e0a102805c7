/** Feedback on a call: what is there, and a reaction, a note or a number of one's own. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { ask, wordsOf } from '../api/client.ts'
import { may } from '../api/session.ts'
import { type Call, type Feedback, factsOf } from '../api/wire.ts'
import { formatTime, preview } from '../parts/format.ts'
import { Failure } from '../parts/notice.ts'

const REACTION = 'wandb.reaction.1'
const NOTE = 'wandb.note.1'
const NUMBER = 'rating'

interface FeedbackBoxProps {
  readonly project: string
  readonly call: Call
  readonly onChange: () => void
}

export function FeedbackBox({ project, call, onChange }: FeedbackBoxProps) {
  const given = factsOf(call).feedback ?? []
  return html`<ul class="feedback">
      ${given.map(
        (item) => html`<li key=${item.id}>
        <b>${wordsFor(item)}</b>
        <span class="faint">${item.feedback_type} · ${item.creator ?? 'unnamed'} · ${formatTime(item.created_at, false)}</span>
      </li>`,
      )}
    </ul>
    ${may('traces:write') ? html`<${NewFeedback} project=${project} call=${call} onChange=${onChange} />` : html`<p class="faint">The key may not add feedback (it lacks traces:write).</p>`}`
}

function wordsFor({ payload }: Feedback): string {
  const { emoji, note, value } = payload
  return preview(emoji ?? note ?? value ?? payload)
}

function NewFeedback({ project, call, onChange }: FeedbackBoxProps) {
  const [note, setNote] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const give = async (feedback_type: string, payload: object) => {
    try {
      // Below /traces any ref is taken; the spec's own route takes objects alone.
      const weave_ref = `${refScheme()}:///${project}/call/${call.id}`
      await ask('/traces/feedback/create', {
        project_id: project,
        weave_ref,
        feedback_type,
        payload,
      })
      setFailure(null)
      setNote('')
      onChange()
    } catch (error) {
      setFailure(wordsOf(error))
    }
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const text = note.trim()
    if (text === '') return
    const isNumber = Number.isFinite(Number(text))
    void (isNumber ? give(NUMBER, { value: Number(text) }) : give(NOTE, { note: text }))
  }
  return html`<form class="bar" onSubmit=${submit}>
      <button type="button" aria-label="Good" onClick=${() => give(REACTION, { emoji: '👍' })}>👍</button>
      <button type="button" aria-label="Bad" onClick=${() => give(REACTION, { emoji: '👎' })}>👎</button>
      <input
        aria-label="A note or a number"
        placeholder="a note, or a number"
        value=${note}
        onInput=${(event: InputEvent) => setNote((event.target as HTMLInputElement).value)}
      />
      <button>Add</button>
    </form>
    <${Failure} words=${failure} />`
}

function refScheme(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="ref-scheme"]')?.content ?? 'weave'
}
