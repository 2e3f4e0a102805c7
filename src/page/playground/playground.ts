/** Talks to a model; every answer is recorded as a call of the project. */
import { html } from 'htm/preact'
import { useRef, useState } from 'preact/hooks'
import { ask, wordsOf } from '../api/client.ts'
import { Failure } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { pathTo } from '../shell/place.ts'
import { type Message, MessageList } from '../trace/messages.ts'
import { streamCompletion } from './stream.ts'

interface Settings {
  readonly model: string
  readonly system: string
  readonly temperature: string
  readonly max_tokens: string
}

const SETTINGS: Settings = { model: '', system: '', temperature: '', max_tokens: '' }

function requestOf(
  { model, system, temperature, max_tokens }: Settings,
  messages: readonly Message[],
) {
  const first = system === '' ? [] : [{ role: 'system', content: system }]
  return {
    ...(model === '' ? {} : { model }),
    messages: [...first, ...messages],
    ...(temperature === '' ? {} : { temperature: Number(temperature) }),
    ...(max_tokens === '' ? {} : { max_tokens: Number(max_tokens) }),
  }
}

export function Playground({ project }: { readonly project: string }) {
  const [settings, setSettings] = useState(SETTINGS)
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [callId, setCallId] = useState<string | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const running = useRef<AbortController | null>(null)
  const [isRunning, setRunning] = useState(false)

  async function send(content: string): Promise<void> {
    const abort = new AbortController()
    running.current = abort
    const asked = [...messages, { role: 'user', content }]
    setMessages(asked)
    setFailure(null)
    setRunning(true)
    try {
      let answer = ''
      for await (const delta of streamCompletion(
        project,
        requestOf(settings, asked),
        abort.signal,
      )) {
        answer += delta.content
        setCallId(delta.callId)
        setMessages([...asked, { role: 'assistant', content: answer }])
      }
    } catch (error) {
      setFailure(wordsOf(error))
    }
    setRunning(false)
  }

  return html`<div class="playground">
    <${SettingsForm} settings=${settings} onChange=${setSettings} />
    <section class="chat">
      <${MessageList} messages=${messages} />
      <${Failure} words=${failure} />
      <${Prompt} isRunning=${isRunning} onSend=${send} onStop=${() => running.current?.abort()} />
      <div class="bar">
        ${callId !== null && html`<a href=${pathTo(project, 'calls', callId)}>the recorded call</a>`}
        <span class="push"></span>
        <button disabled=${isRunning} onClick=${() => setMessages([])}>New chat</button>
      </div>
    </section>
  </div>`
}

interface SettingsFormProps {
  readonly settings: Settings
  readonly onChange: (settings: Settings) => void
}

function SettingsForm({ settings, onChange }: SettingsFormProps) {
  const models = useLoad('models', (signal) =>
    ask<{ data: { id: string }[] }>('/v1/models', undefined, { signal }),
  )
  const change = (name: keyof Settings) => (event: Event) =>
    onChange({ ...settings, [name]: (event.target as HTMLInputElement).value })
  return html`<form class="settings" onSubmit=${(event: Event) => event.preventDefault()}>
    <${Failure} words=${models.failure} />
    <label>Model
      <select value=${settings.model} onChange=${change('model')}>
        <option value="">the default</option>
        ${models.value?.data.map(({ id }) => html`<option key=${id} value=${id}>${id}</option>`)}
      </select>
    </label>
    <label>System<textarea rows="4" value=${settings.system} onInput=${change('system')}></textarea></label>
    <label>Temperature<input type="number" min="0" max="2" step="0.1" value=${settings.temperature} onInput=${change('temperature')} /></label>
    <label>Tokens at most<input type="number" min="1" value=${settings.max_tokens} onInput=${change('max_tokens')} /></label>
  </form>`
}

interface PromptProps {
  readonly isRunning: boolean
  readonly onSend: (content: string) => Promise<void>
  readonly onStop: () => void
}

function Prompt({ isRunning, onSend, onStop }: PromptProps) {
  const [text, setText] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim() === '' || isRunning) return
    void onSend(text)
    setText('')
  }
  return html`<form class="bar" onSubmit=${submit}>
    <input
      aria-label="Message"
      placeholder="Say something"
      value=${text}
      onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)}
    />
    ${isRunning ? html`<button type="button" onClick=${onStop}>Stop</button>` : html`<button class="main">Send</button>`}
  </form>`
}
