/** A conversation with one model, whose messages can be changed. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { formatCount, formatMs } from '../parts/format.ts'
import { MessageItem } from '../parts/message-list.ts'
import type { Message } from '../parts/messages.ts'
import { Failure } from '../parts/notice.ts'
import { pathTo } from '../shell/place.ts'
import { type Answer, messageOf } from './answer.ts'
import { Tokens } from './tokens.ts'

export interface PaneState {
  readonly model: string
  readonly messages: readonly Message[]
  /** The last answer, whole or as far as it has come; null before the first. */
  readonly answer: Answer | null
  readonly callId: string | null
  readonly failure: string | null
  readonly isRunning: boolean
  readonly firstMs: number | null
  readonly wholeMs: number | null
}

export function newPane(model = '', messages: readonly Message[] = []): PaneState {
  return {
    ...{ model, messages, answer: null, callId: null, failure: null },
    ...{ isRunning: false, firstMs: null, wholeMs: null },
  }
}

/** What is shown: the messages, and the answer to them that is still coming. */
function shownOf({ messages, answer, isRunning }: PaneState): readonly Message[] {
  return isRunning && answer !== null ? [...messages, messageOf(answer)] : messages
}

/** Of messages that are kept: what is being typed stays with its message when others are taken out. */
const keys = new WeakMap<Message, string>()
let keyCount = 0

function keyOf(message: Message): string {
  const known = keys.get(message) ?? `kept ${keyCount++}`
  keys.set(message, known)
  return known
}

interface PaneProps {
  readonly project: string
  readonly state: PaneState
  readonly models: readonly string[]
  readonly onChange: (state: PaneState) => void
  /** Null where there is one pane alone. */
  readonly onRemove: (() => void) | null
}

export function Pane({ project, state, models, onChange, onRemove }: PaneProps) {
  const { model, answer, callId, failure, isRunning } = state
  const choose = (event: Event) =>
    onChange({ ...state, model: (event.target as HTMLSelectElement).value })
  const change = (index: number, message: Message | null) => {
    const messages = state.messages.flatMap((old, at) => (at === index ? (message ?? []) : old))
    onChange({ ...state, messages })
  }
  const { length } = state.messages
  const known = model === '' || models.includes(model) ? models : [model, ...models]
  return html`<section class="pane" aria-label=${`Chat with ${model || 'the default model'}`}>
    <div class="bar">
      <label>Model
        <select value=${model} disabled=${isRunning} onChange=${choose}>
          <option value="">the default</option>
          ${known.map((id) => html`<option key=${id} value=${id}>${id}</option>`)}
        </select>
      </label>
      ${onRemove !== null && html`<button disabled=${isRunning} onClick=${onRemove}>Close</button>`}
    </div>
    <ol class="messages">
      ${shownOf(state).map(
        (message, index) =>
          html`<${Editable} key=${index < length ? keyOf(message) : index} message=${message} isFixed=${isRunning} onChange=${(next: Message | null) => change(index, next)} />`,
      )}
    </ol>
    <${Failure} words=${failure} />
    ${answer !== null && answer.logprobs.length > 0 && html`<${Tokens} logprobs=${answer.logprobs} />`}
    <${Facts} state=${state} />
    ${callId !== null && html`<a href=${pathTo(project, 'calls', callId)}>the recorded call</a>`}
  </section>`
}

function Facts({ state: { answer, firstMs, wholeMs } }: { readonly state: PaneState }) {
  if (answer === null) return null
  const { promptTokens, completionTokens, finishReason } = answer
  const facts = [
    firstMs !== null && `first token after ${formatMs(firstMs)}`,
    wholeMs !== null && `whole after ${formatMs(wholeMs)}`,
    promptTokens !== null && `${formatCount(promptTokens)} tokens in`,
    completionTokens !== null && `${formatCount(completionTokens)} tokens out`,
    finishReason !== null && `ended by ${finishReason}`,
  ]
  return html`<p class="faint">${facts.filter(Boolean).join(' · ')}</p>`
}

interface EditableProps {
  readonly message: Message
  readonly isFixed: boolean
  /** @param message - null takes it out */
  readonly onChange: (message: Message | null) => void
}

/** Texts are edited as they are; parts of other kinds as JSON. */
function Editable({ message, isFixed, onChange }: EditableProps) {
  const [text, setText] = useState<string | null>(null)
  const isText = typeof message.content === 'string' || message.content === null
  const open = () =>
    setText(
      isText
        ? ((message.content as string | null) ?? '')
        : JSON.stringify(message.content, null, 2),
    )
  if (text === null || isFixed) {
    return html`<${MessageItem} message=${message}>
      ${!isFixed && html`<div class="bar"><button class="quiet" onClick=${open}>edit</button><button class="quiet" onClick=${() => onChange(null)}>take out</button></div>`}
    <//>`
  }
  const keep = () => {
    onChange({ ...message, content: isText ? text : JSON.parse(text) })
    setText(null)
  }
  return html`<li class="message" data-role=${message.role}>
    <textarea aria-label=${`Message of ${message.role}`} rows=${Math.min(20, text.split('\n').length + 1)} value=${text} onInput=${(event: Event) => setText((event.target as HTMLTextAreaElement).value)}></textarea>
    <div class="bar"><button disabled=${!isText && !isJson(text)} onClick=${keep}>Keep</button><button onClick=${() => setText(null)}>Leave as it was</button></div>
  </li>`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
