/**
 * Shows the content of an object's version: rows as a table, code as text, a prompt as messages, anything else as a
 * tree.
 */
import { html } from 'htm/preact'
import { useLoad } from '../parts/hooks/use-load.ts'
import { MessageList } from '../parts/messages/message-list.ts'
import type { Message } from '../parts/messages/messages.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import type { ObjectVersion } from './kinds.ts'
import { readText, sourceOf, tableOf } from './object-reads.ts'
import { RowTable } from './row-table.ts'

export function ObjectValue({ object }: { readonly object: ObjectVersion }) {
  const { project_id, val } = object
  const [table, source] = [tableOf(val), sourceOf(val)]
  const messages = messagesOf(val)
  return html`${table !== null && html`<${RowTable} project=${project_id} table=${table} />`}
    ${source !== null && html`<${Code} project=${project_id} digest=${source} />`}
    ${messages.length > 0 && html`<${MessageList} messages=${messages} />`}
    <details class="part" open=${table === null && source === null}>
      <summary><h2>Content</h2></summary>
      <${JsonTree} value=${val} />
    </details>`
}

function Code({ project, digest }: { readonly project: string; readonly digest: string }) {
  const text = useLoad(`${project} ${digest}`, (signal) => readText(project, digest, signal))
  if (text.value === null)
    return html`<${Failure} words=${text.failure} />${text.isLoading && html`<${Loading} />`}`
  return html`<pre class="code" tabindex="0" aria-label="Code">${text.value}</pre>`
}

/** The messages of a prompt. */
function messagesOf(val: unknown): readonly Message[] {
  const { messages } = (val ?? {}) as { messages?: unknown }
  if (!Array.isArray(messages)) return []
  return messages.every((message) => typeof message?.role === 'string') ? messages : []
}
