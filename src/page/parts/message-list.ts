/** Messages of a chat as people read them. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { parseExact } from '../api/exact-json.ts'
import { JsonTree, LongText } from './json-tree.ts'
import type { Message, ToolCall } from './messages.ts'

export function MessageList({ messages }: { readonly messages: readonly Message[] }) {
  return html`<ol class="messages">
    ${messages.map((message, index) => html`<${MessageItem} key=${index} message=${message} />`)}
  </ol>`
}

interface MessageItemProps {
  readonly message: Message
  readonly children?: ComponentChildren
}

/** The role is a data attribute: it is text from the trace, not a class name. */
export function MessageItem({ message, children }: MessageItemProps) {
  const { role, content, tool_calls } = message
  const thought = message.reasoning ?? message.reasoning_content
  return html`<li class="message" data-role=${role}>
    <span class="role">${role}</span>
    ${thought && html`<details><summary class="faint">reasoning</summary><${LongText} text=${String(thought)} /></details>`}
    <${Content} content=${content} />
    ${(Array.isArray(tool_calls) ? tool_calls : []).map((call, at) => html`<${Called} key=${at} call=${call} />`)}
    ${children}
  </li>`
}

function Called({ call }: { readonly call: ToolCall }) {
  const called = call?.function
  return html`<div class="tool-call"><b>${String(called?.name ?? 'a tool')}</b> <${JsonTree} value=${parsed(called?.arguments)} /></div>`
}

function Content({ content }: { readonly content: unknown }) {
  if (content === null || content === undefined || content === '') return null
  if (typeof content === 'string') return html`<${LongText} text=${content} />`
  if (!Array.isArray(content)) return html`<${JsonTree} value=${content} />`
  return content.map((part, index) => html`<${ContentPart} key=${index} part=${part} />`)
}

interface Part {
  readonly type?: unknown
  readonly text?: unknown
  readonly name?: string
  readonly input?: unknown
  readonly image_url?: unknown
  readonly source?: { readonly media_type?: unknown; readonly data?: unknown }
}

function ContentPart({ part }: { readonly part: Part | null }) {
  if (typeof part?.text === 'string') return html`<${LongText} text=${part.text} />`
  if (part?.type === 'tool_use')
    return html`<${Called} call=${{ function: { name: part.name, arguments: part.input } }} />`
  const url = pictureOf(part)
  if (url !== null) return html`<img src=${url} alt="picture in the message" />`
  return html`<${JsonTree} value=${part} />`
}

/** Only pictures embedded in the trace: fetching others would reveal the viewer to their hosts. */
function pictureOf(part: Part | null): string | null {
  const given = part?.image_url
  const url = typeof given === 'object' ? (given as { url?: unknown } | null)?.url : given
  const { media_type, data } = part?.source ?? {}
  const found = typeof data === 'string' ? `data:${media_type};base64,${data}` : url
  if (typeof found !== 'string') return null
  return /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(found) ? found : null
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return parseExact(text)
  } catch {
    return text
  }
}
