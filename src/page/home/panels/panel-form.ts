/** The dialog for a panel: what it measures, of which calls, and how it is drawn. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { clickOnce, useSubmit } from '../../parts/hooks/use-submit.ts'
import { icon } from '../../parts/icon.ts'
import { Failure } from '../../parts/notice.ts'
import { Dialog } from '../../parts/overlay/dialog.ts'
import { randomId } from '../../parts/random-id.ts'
import {
  BUILT_IN,
  MEASURES,
  METRICS,
  measuresOf,
  type OwnPanel,
  type Panel,
  TITLES,
  titleOf,
} from './panel.ts'
import { changePanels, type Panels } from './saved-panels.ts'

/** Limits: characters of a title, and of a list of names. */
const TITLE_CHARS_MAX = 100
const NAMES_CHARS_MAX = 2000

const NEW: OwnPanel = {
  title: '',
  metric: 'latency_ms',
  measure: 'p95',
  kind: 'lines',
  ops: [],
  endUsers: [],
  isRootsOnly: false,
}

type FieldEvent = Event & { readonly currentTarget: HTMLInputElement & HTMLSelectElement }

interface PanelFormProps {
  readonly project: string
  readonly panels: Panels
  /** Null for a new one. */
  readonly panel: Panel | null
  readonly onClose: () => void
}

export function PanelForm({ project, panels, panel, onClose }: PanelFormProps) {
  const [own, setOwn] = useState(panel?.own ?? NEW)
  const [ops, setOps] = useState(own.ops.join(', '))
  const [endUsers, setEndUsers] = useState(own.endUsers.join(', '))
  const set = (changes: Partial<OwnPanel>) => setOwn({ ...own, ...changes })
  const measures = measuresOf(own.metric)
  const whole = { ...own, ops: namesIn(ops), endUsers: namesIn(endUsers) }
  const { submit } = useSubmit(async () => {
    const id = panel?.id ?? randomId()
    const isSaved = await panels.save(() =>
      changePanels(project, (entries) =>
        panel === null
          ? [...entries, { id, ...whole }]
          : entries.map((entry) => (entry.id === id ? { ...entry, ...whole } : entry)),
      ),
    )
    if (isSaved) onClose()
  })
  const chooseMetric = ({ currentTarget: { value } }: FieldEvent) => {
    const [first = 'sum'] = measuresOf(value)
    set({ metric: value, measure: measuresOf(value).includes(own.measure) ? own.measure : first })
  }
  const words = panel === null ? 'Add a panel' : 'Edit the panel'
  return html`<${Dialog} label=${words} kind="sheet panel-form" onClose=${onClose}>
    <header><h2>${words}</h2><button class="ghost" aria-label="Close" onClick=${onClose}>${icon('x')}</button></header>
    ${panel === null && html`<${RemovedCharts} project=${project} panels=${panels} onClose=${onClose} />`}
    <form class="fields" onSubmit=${submit}>
      <label>Measures<select value=${own.metric} onChange=${chooseMetric}>
        ${Object.entries(METRICS).map(([name, { label }]) => html`<option key=${name} value=${name}>${label}</option>`)}
      </select></label>
      ${
        measures.length > 1 &&
        html`<label>As<select value=${own.measure} onChange=${({ currentTarget }: FieldEvent) => set({ measure: currentTarget.value })}>
          ${measures.map((name) => html`<option key=${name} value=${name}>${MEASURES[name]}</option>`)}
        </select></label>`
      }
      <label>Drawn as<select value=${own.kind} onChange=${({ currentTarget }: FieldEvent) => set({ kind: currentTarget.value === 'bars' ? 'bars' : 'lines' })}>
        <option value="lines">lines</option><option value="bars">bars</option>
      </select></label>
      <label>Only these operations, separated by commas<input maxlength=${NAMES_CHARS_MAX} placeholder="all" value=${ops} onInput=${({ currentTarget }: FieldEvent) => setOps(currentTarget.value)} /></label>
      <label>Only these end users, separated by commas<input maxlength=${NAMES_CHARS_MAX} placeholder="all" value=${endUsers} onInput=${({ currentTarget }: FieldEvent) => setEndUsers(currentTarget.value)} /></label>
      <label class="check"><input type="checkbox" checked=${own.isRootsOnly} onChange=${({ currentTarget }: FieldEvent) => set({ isRootsOnly: currentTarget.checked })} />Without nested calls</label>
      <label>Title<input maxlength=${TITLE_CHARS_MAX} placeholder=${titleOf({ ...whole, title: '' })} value=${own.title} onInput=${({ currentTarget }: FieldEvent) => set({ title: currentTarget.value })} /></label>
      <div class="bar"><button class="main" onClick=${clickOnce}>${panel === null ? 'Add' : 'Save'}</button><button type="button" onClick=${onClose}>Cancel</button></div>
      <${Failure} words=${panels.failure} />
    </form>
  <//>`
}

type RemovedChartsProps = Omit<PanelFormProps, 'panel'>

/** The built-in charts that were removed: each comes back with a click. */
function RemovedCharts({ project, panels, onClose }: RemovedChartsProps) {
  const removed = BUILT_IN.filter((id) => panels.shown?.every((panel) => panel.id !== id))
  if (removed.length === 0) return null
  const restore = async (id: string) => {
    const isSaved = await panels.save(() =>
      changePanels(project, (entries) => [...entries, { id }]),
    )
    if (isSaved) onClose()
  }
  return html`<div class="bar" role="group" aria-label="Removed charts">
    <span class="faint">Bring back:</span>
    ${removed.map((id) => html`<button key=${id} onClick=${() => restore(id)}>${TITLES[id]}</button>`)}
  </div>`
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '')
}
