/** Buttons and fields that give feedback on a call: thumbs, a note, a number. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'
import { type FeedbackAbout, type Given, giveFeedback, RATING } from '../../api/feedback.ts'
import { icon } from '../icon.ts'
import { Failure } from '../notice.ts'

const GOOD = '👍'

interface GiveFeedbackProps extends Pick<FeedbackAbout, 'project' | 'call'> {
  readonly onGiven: () => void
}

export function GiveFeedback({ project, call, onGiven }: GiveFeedbackProps) {
  const [note, setNote] = useState('')
  const [name, setName] = useState(RATING)
  const [value, setValue] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const give = async (given: Given) => {
    // A button that is disabled would lose the focus.
    if (isSending) return
    setSending(true)
    try {
      await giveFeedback({ project, call }, given)
      setFailure(null)
      if (given.kind === 'note') setNote('')
      if (given.kind === 'number') setValue('')
      onGiven()
    } catch (error) {
      setFailure(errorText(error))
    }
    setSending(false)
  }
  const submit = (event: Event, given: Given | null) => {
    event.preventDefault()
    if (given !== null) void give(given)
  }
  // A double click is one thumb, also when the first click is answered before the second.
  const press = ({ detail }: MouseEvent, emoji: string) => {
    if (detail < 2) void give({ kind: 'reaction', emoji })
  }
  const textOf = (event: InputEvent) => (event.target as HTMLInputElement).value
  const thumb = (emoji: string, label: string) =>
    html`<button aria-disabled=${isSending} onClick=${(event: MouseEvent) => press(event, emoji)}>${icon(emoji === GOOD ? 'thumbs-up' : 'thumbs-down')} ${label}</button>`
  const noteGiven: Given | null = note.trim() === '' ? null : { kind: 'note', note: note.trim() }
  const numberGiven: Given = { kind: 'number', name: name.trim(), value: Number(value) }
  return html`<div class="bar">
      ${thumb(GOOD, 'Good')}
      ${thumb('👎', 'Bad')}
      <form class="bar" onSubmit=${(event: Event) => submit(event, noteGiven)}>
        <input aria-label="A note" placeholder="a note" value=${note} onInput=${(event: InputEvent) => setNote(textOf(event))} />
        <button aria-disabled=${isSending}>Add the note</button>
      </form>
      <form class="bar" onSubmit=${(event: Event) => submit(event, numberGiven)}>
        <input class="short" aria-label="Name of the number" required value=${name} onInput=${(event: InputEvent) => setName(textOf(event))} />
        <input class="short" type="number" step="any" required aria-label="A number" placeholder="a number" value=${value} onInput=${(event: InputEvent) => setValue(textOf(event))} />
        <button aria-disabled=${isSending}>Add the number</button>
      </form>
    </div>
    <${Failure} words=${failure} />`
}
