/** The trial of another prompt on calls that people have rated: an estimate, the comparison, and the next version. */
import { html } from 'htm/preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { EvaluatorResponse } from '../../schemas/evaluators/evaluator.ts'
import type {
  JudgeTrialEstimate,
  JudgeTrialLine,
  JudgeTrialRequest,
} from '../../schemas/evaluators/judge-trial.ts'
import { requestJson, requestLines } from '../api/client.ts'
import { THUMBS } from '../api/feedback.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { Confusion, PairTable } from '../parts/rating/agreement.ts'
import { toDefinition, toFields } from './evaluator-fields.ts'
import { urlOf } from './evaluator-labels.ts'

interface TrialPanelProps {
  readonly project: string
  readonly evaluator: EvaluatorResponse
  readonly onSaved: () => void
}

/** A trial that was estimated, and what is known of it by now. */
interface Tried {
  readonly body: JudgeTrialRequest
  readonly definition: ReturnType<typeof toDefinition>
  readonly estimate: JudgeTrialEstimate
  readonly scored: number
  readonly error: string | null
  readonly result: JudgeTrialLine['result']
}

type FieldEvent = Event & { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }

const noRef = (name: string) => name

export function TrialPanel({ project, evaluator, onSaved }: TrialPanelProps) {
  const url = urlOf(evaluator.id, '/trial')
  const stored = toFields(evaluator)
  const [fields, setFields] = useState({
    model: stored.model,
    prompt: stored.prompt,
    type: THUMBS,
    limit: '50',
    people: '',
    judge: '',
  })
  const [tried, setTried] = useState<Tried | null>(null)
  const requests = useRef(new AbortController())
  useEffect(() => () => requests.current.abort(), [])
  const set =
    (name: keyof typeof fields) =>
    ({ currentTarget: { value } }: FieldEvent) => {
      setFields((last) => ({ ...last, [name]: value }))
      // What was requested for other fields is dropped.
      requests.current.abort()
      requests.current = new AbortController()
      setTried(null)
    }
  const estimate = useSubmit(async () => {
    const { model, prompt, type, limit, people, judge } = fields
    const definition = toDefinition({ ...stored, model, prompt }, evaluator, noRef)
    const body = {
      project_id: project,
      scorer: definition.scorer,
      feedback_types: [type.trim() || THUMBS],
      limit: Number(limit),
      people_pass_at: people === '' ? null : Number(people),
      judge_pass_at: judge === '' ? null : Number(judge),
    } as JudgeTrialRequest
    const found = await requestJson<JudgeTrialEstimate>(`${url}/estimate`, body, {
      signal: requests.current.signal,
    })
    setTried({ body, definition, estimate: found, scored: 0, error: null, result: null })
  })
  const run = useSubmit(async () => {
    if (tried === null) return
    const { signal } = requests.current
    let next: Tried = { ...tried, scored: 0, error: null, result: null }
    for await (const { call, result } of requestLines<JudgeTrialLine>(url, tried.body, {
      signal,
    })) {
      const scored = next.scored + Number(call !== null)
      next = { ...next, scored, error: next.error ?? call?.error ?? null, result }
      setTried(next)
    }
  })
  const save = useSubmit(async () => {
    const body = { project_id: project, ...tried?.definition }
    await requestJson<EvaluatorResponse>(urlOf(evaluator.id), body, { method: 'PUT' })
    onSaved()
  })
  return html`<form class="card bar filters draft" aria-label="Draft" onSubmit=${estimate.submit}>
      <label>Model<input required maxlength="512" value=${fields.model} onInput=${set('model')} /></label>
      <label>Prompt of the draft<textarea required rows="4" value=${fields.prompt} onInput=${set('prompt')}></textarea></label>
      <label>Type of the ratings<input maxlength="256" value=${fields.type} onInput=${set('type')} /></label>
      <label>Calls rated last, at most<input class="short" type="number" required min="1" max="200" value=${fields.limit} onInput=${set('limit')} /></label>
      <label>Numbers of people pass from<input class="short" type="number" step="any" value=${fields.people} onInput=${set('people')} /></label>
      <label>Scores pass from<input class="short" type="number" step="any" value=${fields.judge} onInput=${set('judge')} /></label>
      <button onClick=${clickOnce}>Estimate the trial</button>
    </form>
    ${
      tried !== null &&
      html`<form class="bar" aria-label="Trial" onSubmit=${run.submit}>
        <span role="status">${nameProgress(tried)}</span>
        ${tried.estimate.calls > 0 && html`<button onClick=${clickOnce}>Try it</button>`}
      </form>`
    }
    ${
      tried?.result &&
      html`<${Compared} result=${tried.result} />
      <form class="bar" aria-label="Save the draft" onSubmit=${save.submit}><button class="main" onClick=${clickOnce}>Save the draft as the next version</button></form>`
    }
    <${Failure} words=${estimate.failure ?? run.failure ?? save.failure ?? tried?.error ?? null} />`
}

function nameProgress({ estimate: { calls, missing, cost_usd }, scored, result }: Tried): string {
  if (result !== null)
    return `${formatCount(scored)} calls scored for ${formatCost(result.cost_usd)}, ${formatCount(result.failed)} of them without both scores.`
  if (scored > 0) return `${formatCount(scored)} of ${formatCount(calls)} calls scored …`
  if (calls === 0) return 'Nobody has rated a call by this type yet.'
  const cost = cost_usd === null ? 'an unknown cost' : `at most about ${formatCost(cost_usd)}`
  return `${formatCount(calls)} rated calls for ${cost}; the current version scores ${formatCount(missing)} of them, too.`
}

function Compared({ result }: { readonly result: NonNullable<JudgeTrialLine['result']> }) {
  const { draft, current } = result
  return html`<${PairTable} pairs=${[draft, current]} names=${['People and the draft', 'People and the current version']} />
    <div class="sides">
      <${Confusion} pair=${draft} caption="draft" />
      <${Confusion} pair=${current} caption="current version" />
    </div>`
}
