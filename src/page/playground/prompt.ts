/** The field of the next message. */
import { html } from 'htm/preact'

/** Limit: lines that the field shows at once. */
const LINES_MAX = 12

interface PromptProps {
  readonly text: string
  readonly isRunning: boolean
  readonly onType: (text: string) => void
  /** @returns whether it was sent */
  readonly onSend: (content: string) => boolean
  readonly onStop: () => void
}

export function Prompt({ text, isRunning, onType, onSend, onStop }: PromptProps) {
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim() === '' || isRunning) return
    if (onSend(text)) onType('')
  }
  const stop = (event: MouseEvent) => {
    // The button may be Send before the default action of the click, which would then send what is typed.
    event.preventDefault()
    // The second click of a double click on Send must not stop the answer.
    if (event.detail < 2) onStop()
  }
  const press = (event: KeyboardEvent) => {
    // Enter also ends the composing of a character.
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event)
  }
  return html`<form class="bar" onSubmit=${submit}>
    <textarea
      aria-label="Message"
      title="Enter sends it, Shift and Enter begin a line"
      placeholder="Say something"
      rows=${Math.min(LINES_MAX, text.split('\n').length)}
      value=${text}
      onInput=${(event: Event) => onType((event.target as HTMLTextAreaElement).value)}
      onKeyDown=${press}
    ></textarea>
    ${isRunning ? html`<button type="button" onClick=${stop}>Stop</button>` : html`<button class="main">Send</button>`}
  </form>`
}
