/** The field of the next message. */
import { html } from 'htm/preact'

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
  // The second click of a double click on Send must not stop the answer.
  const stop = ({ detail }: MouseEvent) => {
    if (detail < 2) onStop()
  }
  return html`<form class="bar" onSubmit=${submit}>
    <input
      aria-label="Message"
      placeholder="Say something"
      value=${text}
      onInput=${(event: InputEvent) => onType((event.target as HTMLInputElement).value)}
    />
    ${isRunning ? html`<button type="button" onClick=${stop}>Stop</button>` : html`<button class="main">Send</button>`}
  </form>`
}
