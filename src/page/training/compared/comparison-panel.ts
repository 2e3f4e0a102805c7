/** Compares the checkpoint of a job with its parent on the held-out prompts: the form and the results. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { EvaluatorResponse } from '../../../schemas/evaluators/evaluator.ts'
import type { ComparisonResponse } from '../../../schemas/training/comparison.ts'
import { requestJson } from '../../api/client.ts'
import { formatTime } from '../../parts/format.ts'
import { useAction } from '../../parts/hooks/use-action.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { usePause } from '../../parts/hooks/use-pause.ts'
import { clickOnce, textOf, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Failure, Pending } from '../../parts/notice.ts'
import { query, setQuery } from '../../shell/location.ts'
import { pathTo } from '../../shell/page-route.ts'
import { readAliases } from '../served/alias-api.ts'
import { controlOf, isOver, readCheckpoints, readJobs, readModels } from '../training-api.ts'
import { ComparisonResult } from './comparison-result.ts'

const URL = '/v1/preview/comparisons'
const PAUSE_MS = 1000

/** Which calls the job was made of, and the name of its model. */
interface ComparisonPanelProps {
  readonly project: string
  readonly source: Readonly<Record<string, unknown>>
  readonly model: string
  /** Of the checkpoint, at least 1. */
  readonly step: number
}

interface Offers {
  readonly evaluators: readonly EvaluatorResponse[]
  /** Name of the newest step of the control; null: there is none yet. */
  readonly control: string | null
  /** Whether a job is to make its first step. */
  readonly isControlAwaited: boolean
}

async function readOffers(project: string, model: string, signal: AbortSignal): Promise<Offers> {
  const listed = { project_id: project }
  const [{ evaluators }, models] = await Promise.all([
    requestJson<{ evaluators: EvaluatorResponse[] }>('/evaluators/query', listed, { signal }),
    readModels(project, [], signal),
  ])
  const control = models.find(({ name }) => name === controlOf(model))
  // Jobs are read before checkpoints, so that a finished job has its last one.
  const jobs = control ? await readJobs(project, control.id, [], 0, signal) : []
  const [newest] = control ? await readCheckpoints(control.id, [], signal) : []
  return {
    evaluators: evaluators.filter(({ target }) => target === 'call'),
    control: control && newest ? `${control.name}:step${newest.step}` : null,
    isControlAwaited: newest === undefined && jobs.some((job) => !isOver(job)),
  }
}

export function ComparisonPanel({ project, source, model, step }: ComparisonPanelProps) {
  const [turn, setTurn] = useState(0)
  const offers = useLoad(
    `${project} ${model}`,
    (signal) => readOffers(project, model, signal),
    turn,
  )
  const isAwaited = offers.value?.isControlAwaited === true && !offers.isLoading
  usePause(isAwaited ? PAUSE_MS : null, () => setTurn((last) => last + 1))
  if (Number(source.held_out ?? 0) === 0)
    return html`<p class="faint">No prompt was held out of this job, so that nothing is left to compare on.</p>`
  if (offers.value === null) return html`<${Pending} loaded=${offers} />`
  const { evaluators, ...offered } = offers.value
  return html`${
    evaluators.length === 0
      ? html`<p>New responses are scored by an evaluator of calls: <a href=${pathTo(project, 'evaluators')}>make one</a> first.</p>`
      : html`<${CompareForm} project=${project} source=${source} model=${model} step=${step} evaluators=${evaluators} ...${offered} />`
  }
    <${Results} project=${project} name=${`${model}:step${step}`} />`
}

function CompareForm(props: ComparisonPanelProps & Offers) {
  const { source, model, step, evaluators, control, isControlAwaited } = props
  const [fields, setFields] = useState({
    evaluator: evaluators[0]?.id ?? '',
    baseline: '0',
    samples: '8',
    prompts: '100',
    tokens: '64',
    hasControl: true,
  })
  const set = (name: keyof typeof fields) =>
    textOf((value) => setFields((last) => ({ ...last, [name]: value })))
  const { submit, failure } = useSubmit(async () => {
    const { shuffle_seed: _, ...calls } = source
    const trained = [
      `${model}:step${step}`,
      ...(control !== null && fields.hasControl ? [control] : []),
    ]
    const body = {
      ...calls,
      compare: [`${model}:step${fields.baseline}`, ...trained],
      evaluator_id: fields.evaluator,
      samples: Number(fields.samples),
      prompts_max: Number(fields.prompts),
      max_tokens: Number(fields.tokens),
    }
    const { id } = await requestJson<{ id: string }>(URL, body)
    setQuery({ comparison: id })
  })
  const steps = Array.from({ length: Math.min(step, 100) }, (_, at) => step - 1 - at)
  return html`<form class="bar" aria-label="Comparison" onSubmit=${submit}>
      <label class="inline">Scored by<select value=${fields.evaluator} onChange=${set('evaluator')}>
        ${evaluators.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
      </select></label>
      <label class="inline">Compared with<select value=${fields.baseline} onChange=${set('baseline')}>
        ${[...new Set([0, ...steps])].map((one) => html`<option key=${one} value=${one}>step ${one}${one === 0 ? ', the base model' : ''}</option>`)}
      </select></label>
      <label class="inline">Prompts at most<input class="short" type="number" min="1" max="500" required value=${fields.prompts} onInput=${set('prompts')} /></label>
      <label class="inline">Responses to each<input class="short" type="number" min="1" max="64" required value=${fields.samples} onInput=${set('samples')} /></label>
      <label class="inline">Tokens at most<input class="short" type="number" min="1" required value=${fields.tokens} onInput=${set('tokens')} /></label>
      ${
        control !== null &&
        html`<label class="inline"><input type="checkbox" checked=${fields.hasControl} onChange=${() => setFields((last) => ({ ...last, hasControl: !last.hasControl }))} /> And the control, ${control}</label>`
      }
      ${isControlAwaited && html`<span class="faint" role="status">The control is not trained yet.</span>`}
      <button class="main" onClick=${clickOnce}>Compare on held-out prompts</button>
    </form>
    <${Failure} words=${failure} />`
}

interface ResultsProps {
  readonly project: string
  /** Of the checkpoint. */
  readonly name: string
}

/** The comparison that the address names, and the others of the checkpoint. */
function Results({ project, name }: ResultsProps) {
  const [turn, setTurn] = useState(0)
  const chosen = query.value.get('comparison')
  const listed = `?${new URLSearchParams({ project_id: project })}`
  const loaded = useLoad(
    `${name} ${chosen}`,
    async (signal) => {
      const read = <T>(path: string) => requestJson<T>(path, undefined, { signal })
      const [one, { comparisons }] = await Promise.all([
        chosen && read<ComparisonResponse>(`${URL}/${encodeURIComponent(chosen)}${listed}`),
        read<{ comparisons: ComparisonResponse[] }>(`${URL}${listed}`),
      ])
      const others = comparisons.filter(({ id, models }) => id !== chosen && models.includes(name))
      return [...(one ? [one] : []), ...others]
    },
    turn,
  )
  const isRunning = loaded.value?.some(({ state }) => state === 'running')
  usePause(isRunning && !loaded.isLoading ? PAUSE_MS : null, () => setTurn((last) => last + 1))
  const [changes, setChanges] = useState(0)
  const aliases = useLoad(project, (signal) => readAliases(project, signal), changes)
  const { act, failure } = useAction(() => setChanges((last) => last + 1))
  return html`<${Failure} words=${loaded.failure ?? failure ?? aliases.failure} />
    ${(loaded.value ?? []).map(
      (comparison) => html`<section key=${comparison.id}>
        <h3>${formatTime(comparison.created_at, false)}</h3>
        <${ComparisonResult} project=${project} comparison=${comparison} aliases=${aliases.value ?? []} act=${act} />
      </section>`,
    )}`
}
