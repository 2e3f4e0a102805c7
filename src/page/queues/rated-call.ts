/** The call to be rated: only its input and its output. */
import { html } from 'htm/preact'
import { type Call, factsOf } from '../api/wire.ts'
import { Exception } from '../parts/calls/exception.ts'
import { summaryOf } from '../parts/calls/feedback-summary.ts'
import { formatTime, shortOp } from '../parts/format.ts'
import { MessageList } from '../parts/messages/message-list.ts'
import { type Message, promptOf, responseMessagesOf } from '../parts/messages/messages.ts'
import { JsonTree, LongText } from '../parts/values/json-tree.ts'
import { pathTo } from '../shell/page-route.ts'
import type { Claimed } from './queue-api.ts'

interface RatedCallProps {
  readonly project: string
  readonly claimed: Claimed
}

export function RatedCall({ project, claimed: { item, call } }: RatedCallProps) {
  if (call === null) return html`<p class="notice">The call was deleted. Skip it to go on.</p>`
  const given = factsOf(call).feedback ?? []
  return html`<section aria-label="Call">
    <div class="bar">
      <b>${call.display_name ?? shortOp(call.op_name)}</b>
      <span class="faint">${formatTime(call.started_at, false)}</span>
      <span>${summaryOf(given)}</span>
      <a href=${pathTo(project, 'calls', call.id)}>trace</a>
    </div>
    <${Exception} text=${call.exception} />
    ${
      item.display_fields.length > 0
        ? item.display_fields.map(
            (path) =>
              html`<${Shown} key=${path} title=${path} value=${at(call, path)} messages=${[]} />`,
          )
        : html`<${Shown} title="Inputs" value=${call.inputs} messages=${promptOf(call.inputs)} />
            ${isMissing(call) ? null : html`<${Shown} title="Output" value=${call.output} messages=${responseMessagesOf(call.output)} />`}`
    }
  </section>`
}

/** A failed call shows its error instead of an output. */
function isMissing({ exception, output }: Call): boolean {
  return exception !== null && (output === null || output === undefined)
}

function at(call: Call, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    return (value as Record<string, unknown>)[name]
  }, call)
}

interface ShownProps {
  readonly title: string
  readonly value: unknown
  readonly messages: readonly Message[]
}

function Shown({ title, value, messages }: ShownProps) {
  return html`<h2>${title}</h2>
    <div class="shown">
      ${messages.length > 0 ? html`<${MessageList} messages=${messages} />` : html`<${Plain} value=${value} />`}
    </div>`
}

function Plain({ value }: { readonly value: unknown }) {
  if (value === undefined) return html`<p class="text">none</p>`
  if (typeof value !== 'string') return html`<${JsonTree} value=${value} />`
  return html`<p class="text"><${LongText} text=${value} /></p>`
}
