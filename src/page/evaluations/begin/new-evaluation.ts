/** Runs a dataset against prompts and models, each prompt with each model, and scores what they make of its rows. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText, requestJson } from '../../api/client.ts'
import { membersOf } from '../../api/wire.ts'
import { type ObjectVersion, refOf } from '../../objects/kinds.ts'
import { readRows, readVersion, tableOf } from '../../objects/object-reads.ts'
import { formatCount } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { clickOnce, textOf, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Failure, Pending } from '../../parts/notice.ts'
import { promptMessagesOf, variablesIn } from '../../prompts/prompt-draft.ts'
import { query } from '../../shell/location.ts'
import { pathTo, pathToVersion, type ViewProps } from '../../shell/page-route.ts'
import { textOfIds } from '../run-ids.ts'
import {
  beginRun,
  type Candidate,
  missingScopes,
  publishObject,
  RUNS_AT_ONCE_MAX,
  readObjects,
} from './begin-evaluation.ts'
import { RunProgress } from './run-progress.ts'
import { ScorerChoice } from './scorer-choice.ts'
import { type NamedVersion, VersionList } from './version-list.ts'

/** Limits: prompts and models of one form, and rows whose members are compared with the variables. */
const CHOICES_MAX = 5
const SAMPLE_ROWS = 50

export function NewEvaluation({ project }: ViewProps) {
  const lacking = missingScopes()
  const title = 'Run an evaluation'
  const loaded = useLoad(project, async (signal) => {
    const [datasets, prompts, models] = await Promise.all([
      readObjects(project, 'Dataset', false, signal),
      readObjects(project, 'Prompt', false, signal),
      lacking.includes('inference') ? [] : readModels(signal),
    ])
    return { datasets, prompts, models }
  })
  if (lacking.length > 0)
    return html`<h1>${title}</h1><${Failure} words=${`The key may not run evaluations (it lacks ${lacking.join(' and ')}).`} />`
  if (loaded.value === null) return html`<${Pending} title=${title} loaded=${loaded} />`
  const { datasets, prompts } = loaded.value
  return html`<h1>${title}</h1>
    ${datasets.length === 0 && html`<p class="notice">There is no dataset yet: <a href=${`${pathTo(project, 'datasets')}?new=dataset`}>make one</a>.</p>`}
    ${prompts.length === 0 && html`<p class="notice">There is no prompt yet: <a href=${`${pathTo(project, 'prompts')}?new=prompt`}>make one</a>.</p>`}
    ${datasets.length > 0 && prompts.length > 0 && html`<${EvaluationForm} project=${project} ...${loaded.value} />`}`
}

async function readModels(signal: AbortSignal): Promise<readonly string[]> {
  const { data } = await requestJson<{ data: { id: string }[] }>('/v1/models', undefined, {
    signal,
  })
  return data.map(({ id }) => id)
}

interface EvaluationFormProps {
  readonly project: string
  readonly datasets: readonly ObjectVersion[]
  readonly prompts: readonly ObjectVersion[]
  readonly models: readonly string[]
}

/** A run that has begun, or could not. */
interface Begun {
  readonly name: string
  /** Null: it could not begin. */
  readonly id: string | null
  readonly failure: string | null
}

function EvaluationForm({ project, datasets, prompts, models }: EvaluationFormProps) {
  const [dataset, setDataset] = useState(firstOf(datasets, query.value.get('dataset')))
  const [chosen, setChosen] = useState([firstOf(prompts, query.value.get('prompt'))])
  const [named, setNamed] = useState<readonly NamedVersion[]>([
    { name: models[0] ?? '', version: '' },
  ])
  const [scorers, setScorers] = useState<readonly string[]>([])
  const [fields, setFields] = useState({ name: '', trials: '1', temperature: '', max_tokens: '' })
  const [begun, setBegun] = useState<readonly Begun[]>([])
  const set = (name: keyof typeof fields) =>
    textOf((text) => setFields((last) => ({ ...last, [name]: text })))
  const runs = chosen.length * named.length
  const { submit, failure } = useSubmit(async () => {
    setBegun([])
    if (scorers.length === 0) throw new Error('Choose a scorer.')
    if (runs > RUNS_AT_ONCE_MAX)
      throw new Error(`At most ${RUNS_AT_ONCE_MAX} runs can begin at once.`)
    const { signal } = new AbortController()
    const read = ({ name, version }: NamedVersion) => readVersion(project, name, version, signal)
    const table = await read(dataset)
    const versions = await Promise.all(chosen.map(read))
    const evaluation_ref = await publishObject(
      project,
      fields.name.trim() || `${dataset.name}-evaluation`,
      ['Evaluation'],
      { dataset: refOf(table), scorers, trials: Number(fields.trials) },
    )
    const params = paramsOf(fields)
    for (const prompt of versions) {
      for (const { name: model } of named) {
        const run = await begin({ project_id: project, evaluation_ref, params }, { prompt, model })
        setBegun((last) => [...last, run])
      }
    }
  })
  return html`<form class="evaluation-form" aria-label="Evaluation" onSubmit=${submit} id="evaluation">
      <${VersionList} label="Dataset" objects=${datasets.map(({ object_id }) => object_id)} chosen=${[dataset]} onChange=${([next]: NamedVersion[]) => next && setDataset(next)} />
      <${VersionList} label="Prompt" objects=${prompts.map(({ object_id }) => object_id)} chosen=${chosen} max=${CHOICES_MAX} onChange=${setChosen} />
      <${VersionList} label="Model" objects=${models} hasVersions=${false} chosen=${named} max=${CHOICES_MAX} onChange=${setNamed} />
    </form>
    <${MissingFields} project=${project} dataset=${dataset} prompts=${chosen} />
    <${ScorerChoice} project=${project} chosen=${scorers} onChange=${setScorers} />
    <div class="bar filters">
      <label>Name of the evaluation<input form="evaluation" maxlength="128" placeholder=${`${dataset.name}-evaluation`} value=${fields.name} onInput=${set('name')} /></label>
      <label>Trials of each row<input form="evaluation" class="short" type="number" required min="1" max="100" value=${fields.trials} onInput=${set('trials')} /></label>
      <label>temperature<input form="evaluation" class="short" type="number" min="0" step="any" placeholder="default" value=${fields.temperature} onInput=${set('temperature')} /></label>
      <label>max_tokens<input form="evaluation" class="short" type="number" min="1" placeholder="default" value=${fields.max_tokens} onInput=${set('max_tokens')} /></label>
      <button class="main" form="evaluation" onClick=${clickOnce}>Run ${formatCount(runs)} ${runs === 1 ? 'evaluation' : 'evaluations'}</button>
    </div>
    <${Failure} words=${failure} />
    ${begun.length > 0 && html`<${BegunRuns} project=${project} begun=${begun} />`}`
}

function firstOf(objects: readonly ObjectVersion[], named: string | null): NamedVersion {
  const [name = '', version = ''] = (named ?? '').split(':')
  const known = objects.find(({ object_id }) => object_id === name)
  return known
    ? { name, version: version || 'latest' }
    : { name: objects[0]?.object_id ?? '', version: 'latest' }
}

function paramsOf({
  temperature,
  max_tokens,
}: {
  readonly temperature: string
  readonly max_tokens: string
}) {
  return {
    ...(temperature === '' ? {} : { temperature: Number(temperature) }),
    ...(max_tokens === '' ? {} : { max_tokens: Number(max_tokens) }),
  }
}

/** Begins one run; the others do not depend on it. */
async function begin(
  beginning: Parameters<typeof beginRun>[0],
  candidate: Candidate,
): Promise<Begun> {
  const { prompt, model } = candidate
  const name = `${prompt.object_id} v${prompt.version_index} · ${model}`
  try {
    return { name, id: await beginRun(beginning, candidate), failure: null }
  } catch (error) {
    return { name, id: null, failure: errorText(error) }
  }
}

interface MissingFieldsProps {
  readonly project: string
  readonly dataset: NamedVersion
  readonly prompts: readonly NamedVersion[]
}

/** Says which variables of the prompts the rows do not fill in. */
function MissingFields({ project, dataset, prompts }: MissingFieldsProps) {
  const loaded = useLoad(JSON.stringify([project, dataset, prompts]), async (signal) => {
    const read = ({ name, version }: NamedVersion) => readVersion(project, name, version, signal)
    const table = tableOf((await read(dataset)).val)
    const rows =
      table === null ? [] : await readRows(project, table, { limit: SAMPLE_ROWS }, signal)
    const fields = new Set(rows.flatMap(({ val }) => Object.keys(membersOf(val))))
    const versions = await Promise.all(prompts.map(read))
    return versions.map((version) => ({ version, missing: missingIn(version, fields) }))
  })
  const found = (loaded.value ?? []).filter(({ missing }) => missing.length > 0)
  return html`<${Failure} words=${loaded.failure} />
    ${found.map(
      ({ version, missing }) =>
        html`<p key=${version.digest} class="notice">The rows of ${dataset.name} have no ${missing.map((name) => `{${name}}`).join(', ')} for <a href=${pathToVersion(project, version.object_id, version.digest)}>${version.object_id} v${version.version_index}</a>: there the text stays as it is.</p>`,
    )}`
}

function missingIn({ val }: ObjectVersion, fields: ReadonlySet<string>): readonly string[] {
  const texts = (promptMessagesOf(val) ?? []).map(({ content }) => JSON.stringify(content ?? ''))
  return variablesIn(texts).filter((name) => !fields.has(name))
}

interface BegunRunsProps {
  readonly project: string
  readonly begun: readonly Begun[]
}

function BegunRuns({ project, begun }: BegunRunsProps) {
  const ids = begun.flatMap(({ id }) => id ?? [])
  const compared = `${pathTo(project, 'evaluations', 'compare')}?${new URLSearchParams({ runs: textOfIds(ids.slice(0, CHOICES_MAX)) })}`
  return html`<section aria-label="Runs that have begun">
    <h2 class="apart">Runs</h2>
    <ul class="begun">
      ${begun.map(
        ({ name, id, failure }) => html`<li key=${name}>
        ${id === null ? name : html`<a href=${pathTo(project, 'evaluations', id)}>${name}</a>`}
        ${id === null ? html`<${Failure} words=${failure} />` : html`<${RunProgress} project=${project} id=${id} />`}
      </li>`,
      )}
    </ul>
    ${ids.length > 1 && html`<p><a class="button" href=${compared}>Compare ${ids.length > CHOICES_MAX ? `the first ${CHOICES_MAX}` : 'them'}</a></p>`}
  </section>`
}
