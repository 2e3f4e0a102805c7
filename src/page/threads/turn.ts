/** One turn of a conversation: question, answer, and usage. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../api/session.ts'
import { type Call, factsOf, totalOf, type Usage } from '../api/wire.ts'
import { Exception } from '../parts/calls/exception.ts'
import { summaryOf } from '../parts/calls/feedback-summary.ts'
import { GiveFeedback } from '../parts/calls/give-feedback.ts'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime } from '../parts/format.ts'
import { MessageList } from '../parts/messages/message-list.ts'
import {
  type Message,
  newestOf,
  onlyTextOf,
  promptOf,
  responseMessagesOf,
} from '../parts/messages/messages.ts'
import { pathTo } from '../shell/page-route.ts'
import type { Node } from '../trace/tree.ts'
import { TurnSteps } from './turn-steps.ts'

interface TurnProps {
  readonly project: string
  readonly call: Call
  /** Including all calls below; undefined until known. */
  readonly usage: Usage | undefined
  /** What it called. */
  readonly steps: readonly Node[]
  readonly onChange: () => void
}

export function Turn({ project, call, usage, steps, onChange }: TurnProps) {
  const [isRating, setRating] = useState(false)
  const { status, latency_ms, feedback = [] } = factsOf(call)
  const { tokens, cost } = totalOf(usage ?? {})
  const { asked, given } = saidIn(call)
  return html`<article class="turn">
    <${MessageList} messages=${asked} />
    <${TurnSteps} project=${project} steps=${steps} />
    <${MessageList} messages=${given} />
    <${Exception} text=${call.exception} />
    <footer class="bar faint">
      <${StatusMark} status=${status} />
      <span>${formatTime(call.started_at, false)}</span>
      <span>${formatMs(latency_ms)}</span>
      ${tokens > 0 && html`<span>${formatCount(tokens)} tokens</span>`}
      <span>${formatCost(cost)}</span>
      <span>${summaryOf(feedback)}</span>
      <a href=${pathTo(project, 'calls', call.id)}>trace</a>
      ${may('traces:write') && html`<button class="quiet" aria-expanded=${isRating} onClick=${() => setRating(!isRating)}>give feedback</button>`}
    </footer>
    ${isRating && html`<${GiveFeedback} project=${project} call=${call.id} onGiven=${onChange} />`}
  </article>`
}

interface Said {
  readonly asked: readonly Message[]
  readonly given: readonly Message[]
}

/** The messages of a turn. Inputs and outputs without messages are shown as if they were messages. */
function saidIn({ inputs, output, exception }: Call): Said {
  const prompt = newestOf(promptOf(inputs))
  const answers = responseMessagesOf(output)
  const asked = prompt.length > 0 ? prompt : [{ role: 'user', content: onlyTextOf(inputs) }]
  if (exception !== null && (output === null || output === undefined)) return { asked, given: [] }
  const given = answers.length > 0 ? answers : [{ role: 'assistant', content: onlyTextOf(output) }]
  return { asked, given }
}
