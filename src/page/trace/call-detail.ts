/** One call in full. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { requestLines } from '../api/client.ts'
import { may } from '../api/session.ts'
import { type Call, factsOf, reportedCostOf, totalOf, type Usage, usageOf } from '../api/wire.ts'
import { Exception } from '../parts/calls/exception.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime, shortOp } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { icon } from '../parts/icon.ts'
import { MessageList } from '../parts/messages/message-list.ts'
import { type Message, promptOf, responseMessagesOf } from '../parts/messages/messages.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import { RefLink } from '../parts/values/ref-link.ts'
import { ReplayMenu } from '../playground/replay-menu.ts'
import { pathTo } from '../shell/page-route.ts'
import { AddToDataset } from './add-to-dataset.ts'
import { CopyAs } from './copy-as.ts'
import { FeedbackBox } from './feedback.ts'
import { OpCode } from './op-code.ts'
import { Tags } from './tags.ts'

function readingOf(project_id: string, id: string) {
  return {
    project_id,
    filter: { call_ids: [id] },
    include_costs: true,
    include_feedback: true,
    include_storage_size: true,
  }
}

async function readCall(project: string, id: string, signal: AbortSignal): Promise<Call> {
  const calls = requestLines<Call>('/calls/stream_query', readingOf(project, id), { signal })
  for await (const call of calls) return call
  throw new Error('There is no such call; it may have been deleted.')
}

interface CallDetailProps {
  readonly project: string
  readonly id: string
  /** A new number reads the call again. */
  readonly turn: number
  /** Including all calls below; undefined until known. */
  readonly usage: Usage | undefined
}

export function CallDetail({ project, id, turn, usage }: CallDetailProps) {
  const [count, reload] = useState(0)
  // Of two changes that end together, each counts.
  const readAgain = () => reload((last) => last + 1)
  const loaded = useLoad(id, (signal) => readCall(project, id, signal), `${turn} ${count}`)
  if (loaded.value === null) {
    return html`<section class="detail"><${Pending} title=${loaded.isLoading ? '…' : id} loaded=${loaded} /></section>`
  }
  const call = loaded.value
  const name = call.display_name ?? shortOp(call.op_name)
  const [prompt, answers] = [promptOf(call.inputs), responseMessagesOf(call.output)]
  return html`<section class="detail" aria-label="Call">
    <div class="bar detail-head">
      <h1 title=${name}>${name}</h1>
      ${
        prompt.length > 0 &&
        may('inference') &&
        html`<a class="button" href=${`${pathTo(project, 'playground')}?call=${encodeURIComponent(id)}`}>${icon('play')} Replay in the playground</a>
          <${ReplayMenu} project=${project} call=${id} />`
      }
      <${CopyAs} project=${project} call=${call} reading=${{ path: '/calls/stream_query', body: readingOf(project, id) }} />
    </div>
    <${Failure} words=${loaded.failure} />
    <${Tags} project=${project} call=${call} onChange=${readAgain} />
    <${Facts} call=${call} project=${project} usage=${usage} />
    ${call.exception !== null && html`<${Part} title="Exception"><${Exception} text=${call.exception} /><//>`}
    <${Body} title="Inputs" value=${call.inputs} messages=${prompt} />
    <${Body} title="Output" value=${call.output} messages=${answers} />
    <${Part} title="Feedback">
      <${FeedbackBox} project=${project} call=${call} onChange=${readAgain} />
    <//>
    <${AddToDataset} project=${project} call=${call} />
    <${OpCode} project=${project} opName=${call.op_name} />
    <${Part} title="Attributes"><${JsonTree} value=${call.attributes} depth=${1} /><//>
    <${Part} title="Summary"><${JsonTree} value=${call.summary} depth=${1} /><//>
  </section>`
}

interface FactsProps {
  readonly call: Call
  readonly project: string
  readonly usage: Usage | undefined
}

function Facts({ call, project, usage }: FactsProps) {
  const {
    status,
    latency_ms,
    usage_counted_in: counted,
    usage_problems: problems = [],
  } = factsOf(call)
  const { tokens, cost, models } = usageOf(call)
  const all = totalOf(usage ?? {})
  const facts: [string, ComponentChildren][] = [
    ['Status', html`<${StatusMark} status=${status} />`],
    ['Started', formatTime(call.started_at)],
    ['Latency', formatMs(latency_ms)],
    ['Model', (usage === undefined ? models : Object.keys(usage)).join(', ')],
    // The server's sums count each token once. A call's own report may include its children's usage.
    [
      'Tokens, including descendants',
      usage !== undefined && all.tokens > 0 && formatCount(all.tokens),
    ],
    ['Cost, including descendants', formatCost(all.cost)],
    ['Tokens reported', usage === undefined && formatCount(tokens)],
    ['Cost reported', usage === undefined && formatCost(cost)],
    [
      'Usage counted in',
      counted && html`<a href=${pathTo(project, 'calls', counted)}>${counted}</a>`,
    ],
    ['Cost as the client reports it', formatCost(reportedCostOf(call))],
    ['Usage not counted', problems.join('; ')],
    ['User', call.svc_username],
    ['End user', call.end_user_id],
    [
      'Thread',
      call.thread_id !== null &&
        html`<a href=${pathTo(project, 'threads', call.thread_id)}>${call.thread_id}</a>`,
    ],
    ['Operation', html`<${RefLink} value=${call.op_name} />`],
    ['Id', call.id],
  ]
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`
}

interface PartProps {
  readonly title: string
  readonly children: ComponentChildren
}

function Part({ title, children }: PartProps) {
  return html`<details class="part" open><summary><h2>${title}</h2></summary>${children}</details>`
}

interface BodyProps {
  readonly title: string
  readonly value: unknown
  readonly messages: readonly Message[]
}

/** Shows messages as a chat if there are any, and always offers JSON. */
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
