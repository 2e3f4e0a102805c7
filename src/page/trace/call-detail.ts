/** One call with all that is known of it. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { askLines } from '../api/client.ts'
import { type Call, factsOf, usageOf } from '../api/wire.ts'
import { formatCost, formatCount, formatMs, formatTime, shortOp } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { StatusMark } from '../parts/status.ts'
import { useLoad } from '../parts/use-load.ts'
import { pathTo } from '../shell/place.ts'
import { FeedbackBox } from './feedback.ts'
import { answersOf, MessageList, promptOf } from './messages.ts'

async function readCall(project_id: string, id: string, signal: AbortSignal): Promise<Call> {
  const body = {
    project_id,
    filter: { call_ids: [id] },
    include_costs: true,
    include_feedback: true,
    include_storage_size: true,
  }
  for await (const call of askLines<Call>('/calls/stream_query', body, { signal })) return call
  throw new Error('There is no such call; it may have been deleted.')
}

interface CallDetailProps {
  readonly project: string
  readonly id: string
}

export function CallDetail({ project, id }: CallDetailProps) {
  const [count, reload] = useState(0)
  const loaded = useLoad(`${id} ${count}`, (signal) => readCall(project, id, signal))
  if (loaded.value === null) {
    return html`<section class="detail"><${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}</section>`
  }
  const call = loaded.value
  return html`<section class="detail" aria-label="Call">
    <h1>${call.display_name ?? shortOp(call.op_name)}</h1>
    <${Facts} call=${call} project=${project} />
    ${call.exception !== null && html`<${Part} title="Exception"><pre class="exception">${call.exception}</pre><//>`}
    <${Body} title="Inputs" value=${call.inputs} messages=${promptOf(call.inputs)} />
    <${Body} title="Output" value=${call.output} messages=${answersOf(call.output)} />
    <${Part} title="Feedback">
      <${FeedbackBox} project=${project} call=${call} onChange=${() => reload(count + 1)} />
    <//>
    <${Part} title="Attributes"><${JsonTree} value=${call.attributes} depth=${1} /><//>
    <${Part} title="Summary"><${JsonTree} value=${call.summary} depth=${1} /><//>
  </section>`
}

function Facts({ call, project }: { readonly call: Call; readonly project: string }) {
  const { status, latency_ms } = factsOf(call)
  const { tokens, cost, models } = usageOf(call)
  const facts: [string, ComponentChildren][] = [
    ['Status', html`<${StatusMark} status=${status} />`],
    ['Started', formatTime(call.started_at)],
    ['Latency', formatMs(latency_ms)],
    ['Model', models.join(', ')],
    ['Tokens', formatCount(tokens)],
    ['Cost', formatCost(cost)],
    ['User', call.svc_username],
    [
      'Thread',
      call.thread_id !== null &&
        html`<a href=${`${pathTo(project, 'calls')}?thread=${encodeURIComponent(call.thread_id)}`}>${call.thread_id}</a>`,
    ],
    ['Operation', call.op_name],
    ['Id', call.id],
  ]
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`
}

function Part({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}) {
  return html`<details class="part" open><summary><h2>${title}</h2></summary>${children}</details>`
}

interface BodyProps {
  readonly title: string
  readonly value: unknown
  readonly messages: ReturnType<typeof promptOf>
}

/** Messages as a chat where there are some, and always as JSON on demand. */
function Body({ title, value, messages }: BodyProps) {
  const [isRaw, setRaw] = useState(false)
  const chat = messages.length > 0 && !isRaw
  return html`<${Part} title=${title}>
    ${
      messages.length > 0 &&
      html`<button class="quiet" onClick=${() => setRaw(!isRaw)}>${isRaw ? 'as messages' : 'as JSON'}</button>`
    }
    ${chat ? html`<${MessageList} messages=${messages} />` : html`<${JsonTree} value=${value} />`}
  <//>`
}
