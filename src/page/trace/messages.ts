/** Messages of a chat, found in what a call took and gave, and how they are shown. */
import { html } from 'htm/preact'
import { JsonTree, LongText } from '../parts/json-tree.ts'

export interface Message {
  readonly role: string
  readonly content: unknown
  readonly tool_calls?: readonly ToolCall[]
}

interface ToolCall {
  readonly function?: { readonly name?: string; readonly arguments?: unknown }
}

/** The messages of a request; none when it has none. */
export function promptOf(inputs: unknown): readonly Message[] {
  const { messages, input } = (inputs ?? {}) as { messages?: unknown; input?: unknown }
  return [messages, input].map(asMessages).find(({ length }) => length > 0) ?? []
}

/** The messages of an answer: of choices, or the value itself. */
export function answersOf(output: unknown): readonly Message[] {
  const { choices } = (output ?? {}) as { choices?: unknown }
  if (Array.isArray(choices)) return asMessages(choices.map((choice) => choice?.message))
  return asMessages(Array.isArray(output) ? output : [output])
}

function asMessages(values: unknown): readonly Message[] {
  return Array.isArray(values) && values.every(isMessage) ? values : []
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && typeof (value as Message).role === 'string'
}

export function MessageList({ messages }: { readonly messages: readonly Message[] }) {
  return html`<ol class="messages">
    ${messages.map(
      (message, index) => html`<li key=${index} class=${`message ${message.role}`}>
        <span class="role">${message.role}</span>
        <${Content} content=${message.content} />
        ${(message.tool_calls ?? []).map(
          (call, at) =>
            html`<div key=${at} class="tool-call"><b>${call.function?.name}</b> <${JsonTree} value=${parsed(call.function?.arguments)} /></div>`,
        )}
      </li>`,
    )}
  </ol>`
}

function Content({ content }: { readonly content: unknown }) {
  if (content === null || content === undefined) return null
  if (typeof content === 'string') return html`<${LongText} text=${content} />`
  if (!Array.isArray(content)) return html`<${JsonTree} value=${content} />`
  return content.map((part, index) => html`<${ContentPart} key=${index} part=${part} />`)
}

function ContentPart({
  part,
}: {
  readonly part: { text?: unknown; image_url?: { url?: unknown } }
}) {
  if (typeof part?.text === 'string') return html`<${LongText} text=${part.text} />`
  const url = part?.image_url?.url
  // Only pictures that the trace itself carries: an address elsewhere would be told who looks.
  if (typeof url === 'string' && /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(url)) {
    return html`<img src=${url} alt="picture in the message" />`
  }
  return html`<${JsonTree} value=${part} />`
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
