/** The choice of published scorers that the server can run, and a form for another one. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { EMPTY, toScorer } from '../../evaluators/evaluator-fields.ts'
import { ScorerFields, ScorerKind, type Setter } from '../../evaluators/scorer-fields.ts'
import { refOf } from '../../objects/kinds.ts'
import { NameField } from '../../objects/save-version.ts'
import { formatCount } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../../parts/hooks/use-submit.ts'
import { Failure } from '../../parts/notice.ts'
import { isRunnable, publishObject, readObjects } from './begin-evaluation.ts'

/** What most datasets need: the output is what a row expects. */
const FIRST = { ...EMPTY, kind: 'equals', expected_path: '$.reference.expected' }

interface ScorerChoiceProps {
  readonly project: string
  /** Refs. */
  readonly chosen: readonly string[]
  readonly onChange: (refs: readonly string[]) => void
}

export function ScorerChoice({ project, chosen, onChange }: ScorerChoiceProps) {
  const [turn, setTurn] = useState(0)
  const loaded = useLoad(project, (signal) => readObjects(project, 'Scorer', true, signal), turn)
  const all = loaded.value ?? []
  const scorers = all.filter(isRunnable)
  const others = all.length - scorers.length
  const toggle = (ref: string) =>
    onChange(chosen.includes(ref) ? chosen.filter((one) => one !== ref) : [...chosen, ref])
  const add = (ref: string) => {
    onChange([...chosen, ref])
    setTurn((last) => last + 1)
  }
  return html`<fieldset class="scorers">
      <legend>Scorers</legend>
      <${Failure} words=${loaded.failure} />
      ${loaded.value !== null && scorers.length === 0 && html`<p class="faint">None yet that the server can run; add one below.</p>`}
      ${scorers.map((scorer) => {
        const ref = refOf(scorer)
        return html`<label key=${ref} class="check"><input type="checkbox" checked=${chosen.includes(ref)} onChange=${() => toggle(ref)} /> ${scorer.object_id}</label>`
      })}
      ${others > 0 && html`<p class="faint">${formatCount(others)} ${others === 1 ? 'scorer holds' : 'scorers hold'} code, which only the SDKs run.</p>`}
    </fieldset>
    <details class="part"><summary><h2>New scorer</h2></summary><${NewScorer} project=${project} onAdded=${add} /></details>`
}

interface NewScorerProps {
  readonly project: string
  readonly onAdded: (ref: string) => void
}

function NewScorer({ project, onAdded }: NewScorerProps) {
  const [fields, setFields] = useState(FIRST)
  const [name, setName] = useState('')
  const set: Setter =
    (field) =>
    ({ currentTarget: { value } }) =>
      setFields((last) => ({ ...last, [field]: value }))
  const { submit, failure } = useSubmit(async () => {
    onAdded(await publishObject(project, name.trim(), ['Scorer'], toScorer(fields, null)))
    setName('')
    setFields(FIRST)
  })
  return html`<form class="bar filters" aria-label="New scorer" onSubmit=${submit}>
    <${NameField} label="Name" value=${name} onInput=${setName} />
    <${ScorerKind} fields=${fields} set=${set} />
    <${ScorerFields} fields=${fields} set=${set} />
    <button onClick=${clickOnce}>Add scorer</button>
    <span class="faint">In paths, <code>$.output</code> is what the model made of a row, and <code>$.reference</code> and <code>$.inputs</code> are the row.</span>
    <${Failure} words=${failure} />
  </form>`
}
