/** Messages of a chat as people read them. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { parseExact } from '../../api/exact-json.ts'
import { icon } from '../icon.ts'
import type { IconName } from '../icon-names.ts'
import { JsonTree, LongText } from '../values/json-tree.ts'
import { StoredMediaView, storedMediaIn } from '../values/stored-media.ts'
import {
  callsOf,
  extraTexts,
  type Message,
  nameOf,
  type ToolCall,
  toolResultsOf,
} from './messages.ts'

/** Results of tools stand beside their calls. */
export function MessageList({ messages }: { readonly messages: readonly Message[] }) {
  const results = toolResultsOf(messages)
  const beside = new Set(results.values())
  return html`<ol class="messages">
    ${messages.map((message, index) => !beside.has(message) && html`<${MessageItem} key=${index} message=${message} results=${results} />`)}
  </ol>`
}

const ROLE_ICONS: Readonly<Record<string, IconName>> = {
  user: 'user',
  assistant: 'bot',
  system: 'settings',
  developer: 'settings',
  tool: 'wrench',
  reasoning: 'sparkles',
}

interface MessageItemProps {
  readonly message: Message
  /** Results of tools by the ids of their calls. */
  readonly results?: ReadonlyMap<unknown, Message>
  readonly children?: ComponentChildren
}

/** The role is a data attribute: it is text from the trace, not a class name. */
export function MessageItem({ message, results, children }: MessageItemProps) {
  const { role, content, audio } = message
  const thought = message.reasoning ?? message.reasoning_content
  return html`<li class="message" data-role=${role}>
    <span class="role">${Object.hasOwn(ROLE_ICONS, role) && icon(ROLE_ICONS[role] as IconName)}${role}</span>
    ${thought && html`<${Thought} text=${String(thought)} />`}
    <${Content} content=${content} />
    ${extraTexts(message).map((text) => html`<${LongText} key=${text} text=${text} />`)}
    <${Sound} data=${audio?.data} />
    ${callsOf(message).map((call, at) => html`<${Called} key=${at} call=${call} result=${results?.get(call?.id)} />`)}
    ${children}
  </li>`
}

function Thought({ text }: { readonly text: string }) {
  return html`<details><summary class="faint">reasoning</summary><${LongText} text=${text} /></details>`
}

interface CalledProps {
  readonly call: ToolCall
  readonly result?: Message | undefined
}

function Called({ call, result }: CalledProps) {
  const given = call?.function?.arguments
  return html`<div class="tool-call">
    <div class="tool-name">${icon('wrench')} <b>${nameOf(call)}</b></div>
    ${given !== undefined && html`<${JsonTree} value=${parsed(given)} />`}
    ${result !== undefined && html`<div class="tool-result"><span class="faint">result</span> <${Content} content=${resultOf(result)} /></div>`}
  </div>`
}

/** A result that is JSON is shown as such. */
function resultOf({ content }: Message): unknown {
  if (typeof content !== 'string' || !/^\s*[[{]/.test(content)) return content
  const value = parsed(content)
  return Array.isArray(value) ? { result: value } : value
}

function Content({ content }: { readonly content: unknown }) {
  if (content === null || content === undefined || content === '') return null
  if (typeof content === 'string') return html`<${Said} text=${content} />`
  if (!Array.isArray(content)) return html`<${JsonTree} value=${content} />`
  return content.map((part, index) => html`<${ContentPart} key=${index} part=${part} />`)
}

/** A text, or what it names. */
function Said({ text }: { readonly text: string }) {
  const media = storedMediaIn(text)
  return media === null
    ? html`<${LongText} text=${text} />`
    : html`<${StoredMediaView} ...${media} />`
}

interface Part {
  readonly type?: unknown
  readonly text?: unknown
  readonly thinking?: unknown
  readonly content?: unknown
  readonly name?: unknown
  readonly input?: unknown
  readonly image_url?: unknown
  readonly input_audio?: { readonly data?: unknown }
  readonly source?: { readonly media_type?: unknown; readonly data?: unknown }
}

function ContentPart({ part }: { readonly part: Part | null }) {
  const thought = part?.type === 'reasoning' ? part.text : part?.thinking
  if (typeof thought === 'string') return html`<${Thought} text=${thought} />`
  if (typeof part?.text === 'string') return html`<${Said} text=${part.text} />`
  if (part?.type === 'tool_use')
    return html`<${Called} call=${{ function: { name: part.name, arguments: part.input } }} />`
  if (part?.type === 'tool_result')
    return html`<div class="tool-call"><div class="tool-name">${icon('wrench')} <b>result</b></div><div><${Content} content=${part.content} /></div></div>`
  const media = storedMediaIn(part?.source?.data ?? urlOf(part) ?? part?.input_audio?.data)
  if (media !== null) return html`<${StoredMediaView} ...${media} />`
  const url = pictureOf(part)
  if (url !== null) return html`<img src=${url} alt="picture in the message" />`
  const data = part?.input_audio?.data
  if (soundOf(data) !== null) return html`<${Sound} data=${data} />`
  return html`<${JsonTree} value=${part} />`
}

/** Audio files by the bytes that they begin with, in base64. */
const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/^UklGR/, 'wav'],
  [/^(?:SUQz|\/\/)/, 'mpeg'],
  [/^T2dnUw/, 'ogg'],
  [/^ZkxhQw/, 'flac'],
]

function soundOf(data: unknown): string | null {
  if (typeof data !== 'string') return null
  const [, type] = SOUNDS.find(([begin]) => begin.test(data)) ?? []
  return type === undefined ? null : `data:audio/${type};base64,${data}`
}

/** A sound embedded in the trace; nothing for one that a browser cannot play. */
function Sound({ data }: { readonly data: unknown }) {
  const url = soundOf(data)
  return url === null
    ? null
    : html`<audio controls src=${url} aria-label="sound in the message"></audio>`
}

function urlOf(part: Part | null): unknown {
  const given = part?.image_url
  return typeof given === 'object' ? (given as { url?: unknown } | null)?.url : given
}

/** Only pictures embedded in the trace: fetching others would reveal the viewer to their hosts. */
function pictureOf(part: Part | null): string | null {
  const url = urlOf(part)
  const { media_type, data } = part?.source ?? {}
  const found = typeof data === 'string' ? `data:${media_type};base64,${data}` : url
  if (typeof found !== 'string') return null
  return /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(found) ? found : null
}

/** The value of a text that is JSON; any other as it is. */
export function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return parseExact(text)
  } catch {
    return text
  }
}
