/** A conversation with one model, whose messages can be changed. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatCount, formatMs } from '../parts/format.ts'
import { MessageItem } from '../parts/messages/message-list.ts'
import type { Message } from '../parts/messages/messages.ts'
import { focusNeighbour } from '../parts/neighbour.ts'
import { Failure } from '../parts/notice.ts'
import { pathTo } from '../shell/page-route.ts'
import { type Completion, messageOf } from './completion.ts'
import { canChange, changeAll, changed, type Drafts, textOf, withDraft } from './drafts.ts'
import { Tokens } from './tokens.ts'

export interface PaneState {
  readonly model: string
  readonly messages: readonly Message[]
  readonly drafts: Drafts
  /** The last response, complete or partial; null before the first. */
  readonly answer: Completion | null
  readonly callId: string | null
  readonly failure: string | null
  readonly isRunning: boolean
  readonly firstMs: number | null
  /** Null also when the answer broke off. */
  readonly wholeMs: number | null
  /** Whether the user stopped the answer. */
  readonly isStopped: boolean
}

export function newPane(model = '', messages: readonly Message[] = []): PaneState {
  return {
    model,
    messages,
    drafts: new Map(),
    answer: null,
    callId: null,
    failure: null,
    isRunning: false,
    firstMs: null,
    wholeMs: null,
    isStopped: false,
  }
}

/** Applies the open edits. @throws Error when one is invalid */
export function settled(pane: PaneState): PaneState {
  return { ...pane, messages: changeAll(pane.messages, pane.drafts), drafts: new Map() }
}

/** The messages shown, including the answer that is still arriving. */
function shownOf({ messages, answer, isRunning }: PaneState): readonly Message[] {
  return isRunning && answer !== null ? [...messages, messageOf(answer)] : messages
}

/** Keeps open edits with their messages when other messages are removed. */
const keys = new WeakMap<Message, string>()
let keyCount = 0

function keyOf(message: Message): string {
  const known = keys.get(message) ?? `kept ${keyCount++}`
  keys.set(message, known)
  return known
}

interface PaneProps {
  readonly project: string
  /** From 1; null if there is only one pane. */
  readonly number: number | null
  readonly state: PaneState
  readonly models: readonly string[]
  readonly onChange: (state: PaneState) => void
  /** Null if there is only one pane. */
  readonly onRemove: (() => void) | null
}

export function Pane({ project, number, state, models, onChange, onRemove }: PaneProps) {
  const { model, answer, callId, failure, isRunning } = state
  const choose = (event: Event) =>
    onChange({ ...state, model: (event.target as HTMLSelectElement).value })
  const change = (message: Message, next: Message | null) => {
    if (next !== null) keys.set(next, keyOf(message))
    const messages = state.messages.flatMap((old) => (old === message ? (next ?? []) : old))
    onChange({ ...state, messages, drafts: withDraft(state.drafts, message, null) })
  }
  const edit = (message: Message, text: string | null) =>
    onChange({ ...state, drafts: withDraft(state.drafts, message, text) })
  const close = ({ currentTarget }: Event) => {
    const neighbours = { item: '.pane', button: 'select', instead: 'select', within: '.panes' }
    focusNeighbour(currentTarget as Element, neighbours)
    onRemove?.()
  }
  const { length } = state.messages
  const known = model === '' || models.includes(model) ? models : [model, ...models]
  return html`<section class="pane" aria-label=${`${number === null ? 'Chat' : `Chat ${number}`} with ${model || 'the default model'}`}>
    <div class="bar">
      <label>Model
        <select value=${model} disabled=${isRunning} onChange=${choose}>
          <option value="">the default</option>
          ${known.map((id) => html`<option key=${id} value=${id}>${id}</option>`)}
        </select>
      </label>
      ${onRemove !== null && html`<button disabled=${isRunning} onClick=${close}>Close</button>`}
    </div>
    <ol class="messages">
      ${shownOf(state).map(
        (message, index) =>
          html`<${Editable} key=${index < length ? keyOf(message) : index} message=${message} draft=${state.drafts.get(message) ?? null} isFixed=${isRunning} onEdit=${(text: string | null) => edit(message, text)} onChange=${(next: Message | null) => change(message, next)} />`,
      )}
    </ol>
    <${Failure} words=${failure} />
    ${answer !== null && answer.logprobs.length > 0 && html`<${Tokens} logprobs=${answer.logprobs} />`}
    <${Facts} state=${state} />
    ${callId !== null && html`<a href=${pathTo(project, 'calls', callId)}>the recorded call</a>`}
  </section>`
}

function Facts({ state: { answer, firstMs, wholeMs, isStopped } }: { readonly state: PaneState }) {
  if (answer === null) return null
  const { promptTokens, completionTokens, finishReason } = answer
  const facts = [
    firstMs !== null && `first token after ${formatMs(firstMs)}`,
    wholeMs !== null && `${isStopped ? 'stopped' : 'complete'} after ${formatMs(wholeMs)}`,
    promptTokens !== null && `${formatCount(promptTokens)} tokens in`,
    completionTokens !== null && `${formatCount(completionTokens)} tokens out`,
    finishReason !== null && `finish reason ${finishReason}`,
  ]
  return html`<p class="faint" role="status">${facts.filter(Boolean).join(' · ')}</p>`
}

interface EditableProps {
  readonly message: Message
  /** The open edit; null if the message is not being edited. */
  readonly draft: string | null
  readonly isFixed: boolean
  readonly onEdit: (draft: string | null) => void
  /** @param message - null removes it */
  readonly onChange: (message: Message | null) => void
}

function Editable({ message, draft, isFixed, onEdit, onChange }: EditableProps) {
  const button = useRef<HTMLButtonElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const isLeft = useRef(false)
  // The focused button was removed when the editor opened or closed.
  useLayoutEffect(() => {
    if (draft !== null) field.current?.focus()
    else if (isLeft.current) button.current?.focus()
    isLeft.current = false
  }, [draft === null])
  const takeOut = ({ currentTarget }: Event) => {
    const button = '.bar > :last-child'
    const neighbours = {
      item: '.message',
      button,
      instead: '[aria-label=Message]',
      within: '.chat',
    }
    focusNeighbour(currentTarget as Element, neighbours)
    onChange(null)
  }
  if (draft === null || isFixed) {
    return html`<${MessageItem} message=${message}>
      ${!isFixed && html`<div class="bar"><button ref=${button} class="quiet" onClick=${() => onEdit(textOf(message))}>edit</button><button class="quiet" onClick=${takeOut}>remove</button></div>`}
    <//>`
  }
  const leave = (how: () => void) => () => {
    isLeft.current = true
    how()
  }
  return html`<li class="message" data-role=${message.role}>
    <textarea ref=${field} aria-label=${`Message of ${message.role}`} rows=${Math.min(20, draft.split('\n').length + 1)} value=${draft} onInput=${(event: Event) => onEdit((event.target as HTMLTextAreaElement).value)}></textarea>
    <div class="bar"><button disabled=${!canChange(message, draft)} onClick=${leave(() => onChange(changed(message, draft)))}>Apply</button><button onClick=${leave(() => onEdit(null))}>Cancel</button></div>
  </li>`
}
