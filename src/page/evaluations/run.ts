/** One run of an evaluation: what it was, its scores, and its examples. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { StatusMark } from '../parts/calls/status.ts'
import { formatCost, formatCount, formatMs, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure, Loading, Pending } from '../parts/notice.ts'
import { parseRef } from '../parts/values/refs.ts'
import { go, query } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { missingScopes, rescoreRun } from './begin/begin-evaluation.ts'
import { RunProgress } from './begin/run-progress.ts'
import { ScorerChoice } from './begin/scorer-choice.ts'
import { ExampleDetail } from './example-detail.ts'
import { ExampleTable } from './example-table.ts'
import { EXAMPLES_MAX, type Examples, readDataset, readExamples } from './examples.ts'
import { Subject } from './run-columns.ts'
import { type Run, readRunsOf } from './runs.ts'
import { formatScore, meansOf, namesOf, type Scores } from './scores.ts'

export function RunView({ project, subject }: ViewProps) {
  const id = subject ?? ''
  const [turn, setTurn] = useState(0)
  const run = useLoad(
    `${project} ${id}`,
    async (signal) => (await readRunsOf(project, [id], signal))[0],
    turn,
  )
  const examples = useLoad(
    `${project} ${id}`,
    (signal) => readExamples(project, { id }, signal),
    turn,
  )
  const name = run.value?.name ?? (run.isLoading ? '…' : id)
  useSubjectName(id, run.isLoading, run.value?.name)
  if (!run.value) return html`<${Pending} title=${name} loaded=${run} />`
  return html`<h1 title=${name}>${name}</h1>
    <${Facts} project=${project} run=${run.value} />
    ${run.value.status === 'running' ? html`<${RunProgress} project=${project} id=${id} onEnd=${() => setTurn((last) => last + 1)} />` : html`<${Rescore} project=${project} id=${id} />`}
    <${ScoreFigures} run=${run.value} examples=${examples.value} />
    <${Failure} words=${examples.failure} />
    ${examples.value === null && examples.isLoading && html`<${Loading} />`}
    ${examples.value !== null && html`<${ExampleSection} project=${project} examples=${examples.value} />`}`
}

function Facts({ project, run }: { readonly project: string; readonly run: Run }) {
  const facts = [
    ['Evaluation', html`<${Subject} value=${run.evaluation} />`],
    ['Dataset', html`<${DatasetLink} project=${project} evaluation=${run.evaluation} />`],
    ['Model', html`<${Subject} value=${run.model} />`],
    ['Status', html`<${StatusMark} status=${run.status} />`],
    ['Started', formatTime(run.started_at, false)],
    ['Latency', formatMs(run.latencyMs)],
    ['Model latency', formatMs(run.modelLatencyMs)],
    ['Tokens', formatCount(run.tokens)],
    ['Cost', formatCost(run.cost)],
    ['Call', html`<a href=${pathTo(project, 'calls', run.id)}>the trace</a>`],
  ]
  return html`<dl class="facts">
    ${facts.filter(([, value]) => value !== '').map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`
}

interface DatasetLinkProps {
  readonly project: string
  readonly evaluation: unknown
}

function DatasetLink({ project, evaluation }: DatasetLinkProps) {
  const ref = parseRef(evaluation)
  const loaded = useLoad(`${project} ${ref?.name} ${ref?.digest}`, async (signal) =>
    ref === null ? null : readDataset(ref.project, ref.name, ref.digest, signal),
  )
  return loaded.value === null ? '–' : html`<${Subject} value=${loaded.value} />`
}

/** Scores the predictions again, with other scorers, as a new run. */
function Rescore({ project, id }: { readonly project: string; readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  const [scorers, setScorers] = useState<readonly string[]>([])
  const { submit, failure } = useSubmit(async () => {
    if (scorers.length === 0) throw new Error('Choose a scorer.')
    go(pathTo(project, 'evaluations', await rescoreRun(project, id, scorers)))
  })
  if (missingScopes().length > 0) return null
  return html`<details class="part" onToggle=${(event: Event) => setOpen((event.target as HTMLDetailsElement).open)}>
    <summary><h2>Score again</h2></summary>
    ${
      isOpen &&
      html`<${ScorerChoice} project=${project} chosen=${scorers} onChange=${setScorers} />
        <form class="bar" onSubmit=${submit}><button class="main" onClick=${clickOnce}>Score again as a new run</button></form>
        <${Failure} words=${failure} />`
    }
  </details>`
}

interface ScoreFiguresProps {
  readonly run: Run
  readonly examples: Examples | null
}

/** The scores that ended the run; while it runs, means over the examples so far. */
function ScoreFigures({ run, examples }: ScoreFiguresProps) {
  const isEnded = run.status !== 'running'
  const scores: Scores = useMemo(() => {
    if (isEnded && Object.keys(run.scores).length > 0) return run.scores
    return meansOf(examples?.examples.map((example) => example.scores) ?? [])
  }, [run, examples])
  const names = namesOf([scores])
  return html`<section aria-label="Scores">
    ${!isEnded && html`<p class="notice">It is running; these are means over the examples so far.</p>`}
    ${names.length === 0 && examples !== null && html`<p class="notice">No scores.</p>`}
    <div class="figures">
      ${names.map(
        (name) =>
          html`<div key=${name} class="figure"><span class="value">${formatScore(scores[name])}</span><span class="label">${name}</span></div>`,
      )}
    </div>
  </section>`
}

interface ExampleSectionProps {
  readonly project: string
  readonly examples: Examples
}

function ExampleSection({ project, examples: { examples, hasMore } }: ExampleSectionProps) {
  const chosen = examples.find(({ key }) => key === query.value.get('example'))
  return html`<section aria-label="Examples">
    ${hasMore && html`<p class="notice">The run has more examples; these are the first ${formatCount(EXAMPLES_MAX)}.</p>`}
    <${ExampleTable} project=${project} examples=${examples} />
    ${
      chosen !== undefined &&
      html`<${ExampleDetail}
        key=${chosen.key}
        project=${project}
        columns=${examples.filter(({ key }) => key === chosen.key).map(({ callId }, at) => ({ name: `Trial ${at + 1}`, callId }))}
      />`
    }
  </section>`
}
