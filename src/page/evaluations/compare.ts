/** Two to five runs side by side: their scores, what they ran, and the examples, the largest regression first. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { ComparedExamples } from './compared-examples.ts'
import { ComparedRuns } from './compared-runs.ts'
import {
  compareExamples,
  findMostDifferent,
  hasOutcome,
  LATENCY,
  type Outcome,
} from './comparison.ts'
import { COMPARED_MAX } from './evaluations.ts'
import { EXAMPLES_MAX, type Examples, readExamples } from './examples.ts'
import { idsInAddress } from './run-ids.ts'
import { type Run, readRunsOf } from './runs.ts'
import { isBetterLow, namesOf } from './scores.ts'

export function Compare({ project }: ViewProps) {
  const ids = [...new Set(idsInAddress())]
  const head = html`<h1>Compare runs</h1>`
  if (ids.length < 2 || ids.length > COMPARED_MAX) {
    return html`${head}<p class="notice">The address must name two to five runs. <a href=${pathTo(project, 'evaluations')}>Choose them</a>.</p>`
  }
  return html`${head}<${Loaded} key=${ids.join()} project=${project} ids=${ids} />`
}

interface LoadedProps {
  readonly project: string
  readonly ids: readonly string[]
}

function Loaded({ project, ids }: LoadedProps) {
  const loaded = useLoad(project, async (signal) => {
    const runs = await readRunsOf(project, ids, signal)
    // Sequentially, since the answers are long.
    const examples: Examples[] = []
    for (const run of runs) examples.push(await readExamples(project, run, signal))
    return { runs, examples }
  })
  if (loaded.value === null)
    return html`<${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}`
  const { runs, examples } = loaded.value
  return html`<${ComparedRuns} project=${project} runs=${runs} />
    ${examples.some(({ hasMore }) => hasMore) && html`<p class="notice">A run has more examples; the first ${formatCount(EXAMPLES_MAX)} of each are compared.</p>`}
    <${ByExample} project=${project} runs=${runs} examples=${examples} />`
}

/** Compared with the first run. */
const OUTCOMES: readonly { readonly name: Outcome; readonly label: string }[] = [
  { name: 'better', label: 'better' },
  { name: 'worse', label: 'worse' },
  { name: 'same', label: 'the same' },
  { name: 'missing', label: 'not comparable' },
]

interface ByExampleProps {
  readonly project: string
  readonly runs: readonly Run[]
  readonly examples: readonly Examples[]
}

function ByExample({ project, runs, examples: loaded }: ByExampleProps) {
  const all = useMemo(() => loaded.map(({ examples }) => examples), [loaded])
  const names = useMemo(() => [...namesOf(all.flat().map(({ scores }) => scores)), LATENCY], [all])
  const chosen = query.value.get('score') ?? ''
  const first = useMemo(() => findMostDifferent(all, names), [all, names])
  const score = names.includes(chosen) ? chosen : first
  const isLow = (query.value.get('better') ?? (isBetterLow(score) ? 'low' : 'high')) === 'low'
  const compared = useMemo(() => compareExamples(all, score, isLow), [all, score, isLow])
  const outcome = OUTCOMES.find(({ name }) => name === query.value.get('show'))
  const shown = useMemo(
    () => (outcome ? compared.filter((each) => hasOutcome(each, outcome.name)) : compared),
    [compared, outcome],
  )
  const filter = (event: Event) =>
    setQuery({ show: (event.target as HTMLSelectElement).value }, { isStep: true })
  const change = (event: Event) =>
    setQuery({ score: (event.target as HTMLSelectElement).value, better: null }, { isStep: true })
  return html`<section aria-label="Examples">
    <div class="bar filters">
      <b role="status">${outcome && `${formatCount(shown.length)} of `}${formatCount(compared.length)} ${compared.length === 1 ? 'example' : 'examples'}</b>
      <label>Score
        <select value=${score} onChange=${change}>
          ${names.map((name) => html`<option key=${name} value=${name}>${name === LATENCY ? 'latency' : name}</option>`)}
        </select>
      </label>
      <label>Show
        <select aria-label="Show" value=${outcome?.name ?? ''} onChange=${filter}>
          <option value="">all examples</option>
          ${OUTCOMES.map(({ name, label }) => html`<option key=${name} value=${name}>${label}</option>`)}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" checked=${isLow} onChange=${() => setQuery({ better: isLow ? 'high' : 'low' })} />
        Less is better
      </label>
      <span class="faint">The largest regressions come first.</span>
    </div>
    <${ComparedExamples} project=${project} runs=${runs} compared=${compared} shown=${shown} isLatency=${score === LATENCY} />
  </section>`
}
