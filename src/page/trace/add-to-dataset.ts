/** Adds a call to a dataset as a row, which is shown before and can be changed. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../api/session.ts'
import type { Call } from '../api/wire.ts'
import { readRow } from '../datasets/row-edits.ts'
import { addRows, listDatasets, rowOf } from '../objects/dataset-rows.ts'
import { Folded } from '../parts/folded.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { pathToVersion } from '../shell/page-route.ts'

const LINES_MAX = 20
/** Characters of a row with a line for each value: browsers need seconds for a field of many thousand lines. */
const INDENTED_MAX = 100_000

interface AddToDatasetProps {
  readonly project: string
  readonly call: Call
}

export function AddToDataset(props: AddToDatasetProps) {
  if (!may('traces:write')) return null
  return html`<${Folded} title="Add to a dataset">${() => html`<${RowForm} ...${props} />`}<//>`
}

function textOfRow(row: object): string {
  const text = JSON.stringify(row)
  return text.length > INDENTED_MAX ? text : JSON.stringify(row, null, 2)
}

function RowForm({ project, call }: AddToDatasetProps) {
  const names = useLoad(project, (signal) => listDatasets(project, signal))
  const [name, setName] = useState('')
  const [text, setText] = useState(() => textOfRow(rowOf(call)))
  const [filled, setFilled] = useState<string | null>(null)
  const { submit, failure } = useSubmit(async () => {
    setFilled(null)
    await addRows(project, name.trim(), [readRow(text)])
    setFilled(name.trim())
  })
  const typedIn = (event: Event) => (event.target as HTMLInputElement).value
  return html`<form class="fields" onSubmit=${submit}>
    <label>Dataset; a name that is not in use makes a new one
      <input required list="datasets" value=${name} onInput=${(event: Event) => setName(typedIn(event))} />
    </label>
    <datalist id="datasets">${names.value?.map((each) => html`<option key=${each} value=${each}></option>`)}</datalist>
    <label>Row
      <textarea rows=${Math.min(LINES_MAX, text.split('\n').length + 1)} spellcheck=${false} value=${text} onInput=${(event: Event) => setText(typedIn(event))}></textarea>
    </label>
    <div class="bar">
      <button onClick=${clickOnce}>Add the row</button>
      <span role="status">${filled !== null && html`added to <a href=${pathToVersion(project, filled, 'latest')}>${filled}</a>`}</span>
    </div>
    <${Failure} words=${failure ?? names.failure} />
  </form>`
}
