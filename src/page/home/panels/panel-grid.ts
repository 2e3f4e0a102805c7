/** The charts of an overview in the order that people gave them, and the tools to arrange them. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { may } from '../../api/session.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { icon } from '../../parts/icon.ts'
import type { IconName } from '../../parts/icon-names.ts'
import { Failure } from '../../parts/notice.ts'
import {
  BUILT_IN,
  type BuiltIn,
  moved,
  nameOf,
  type OwnPanel,
  PANELS_MAX,
  type Panel,
} from './panel.ts'
import { changePanels, type Panels, resetPanels } from './saved-panels.ts'

interface PanelGridProps {
  readonly project: string
  readonly panels: Panels
  /** Of the panels that are built in. */
  readonly charts: Readonly<Record<BuiltIn, ComponentChildren>>
  readonly isLive: boolean
}

/** What the form edits: a panel, or a new one. */
type Edited = Panel | 'new' | null

export function PanelGrid({ project, panels, charts, isLive }: PanelGridProps) {
  const [isArranging, setArranging] = useState(false)
  const [edited, setEdited] = useState<Edited>(null)
  const [said, say] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const refocus = useRefocus(box, panels.shown)
  const { shown } = panels
  if (shown === null) return null
  const move = async (panel: Panel, to: number, tool: string) => {
    refocus(panel.id, tool)
    const isSaved = await panels.save(() =>
      changePanels(project, (entries) => moved(entries, panel.id, to)),
    )
    if (isSaved) say(`${nameOf(panel)} is now number ${to + 1}.`)
  }
  const remove = async (panel: Panel, at: number) => {
    const next = shown[at + 1] ?? shown[at - 1]
    refocus(next?.id ?? '', 'remove')
    const isSaved = await panels.save(() =>
      changePanels(project, (entries) => entries.filter(({ id }) => id !== panel.id)),
    )
    if (isSaved) say(`${nameOf(panel)} was removed.`)
  }
  const reset = () => {
    if (confirm('Bring back the five charts for everyone, and remove all other panels?'))
      void panels.save(() => resetPanels(project))
  }
  const isDefault = shown.map(({ id }) => id).join() === BUILT_IN.join()
  return html`<div class="bar panels-bar">
      <span role="status" class="faint">${isArranging && said}</span>
      <span class="push"></span>
      ${
        isArranging &&
        html`${shown.length < PANELS_MAX ? html`<button onClick=${() => setEdited('new')}>${icon('plus')} Add a panel</button>` : html`<span class="faint">There are at most ${PANELS_MAX} panels.</span>`}
          ${!isDefault && html`<button onClick=${reset}>Reset</button>`}`
      }
      ${may('traces:write') && html`<button class=${isArranging ? 'main' : 'ghost'} aria-pressed=${isArranging} onClick=${() => setArranging(!isArranging)}>${isArranging ? 'Done' : html`${icon('layout-grid')} Arrange panels`}</button>`}
    </div>
    <${Failure} words=${panels.failure} />
    ${shown.length === 0 && html`<p class="notice">All panels were removed.</p>`}
    <div class=${`charts ${isDefault ? 'five' : ''}`} ref=${box}>${shown.map(
      (
        panel,
        at,
      ) => html`<div key=${panel.id} class="panel" data-panel=${panel.id} ...${isArranging ? dropTarget((id) => move(shown.find((other) => other.id === id) ?? panel, at, 'earlier')) : {}}>
        ${isArranging && html`<${Tools} panel=${panel} at=${at} count=${shown.length} onMove=${move} onRemove=${remove} onEdit=${setEdited} />`}
        <${Content} project=${project} panel=${panel} charts=${charts} isLive=${isLive} />
      </div>`,
    )}</div>
    ${edited !== null && html`<${LoadedForm} project=${project} panels=${panels} panel=${edited === 'new' ? null : edited} onClose=${() => setEdited(null)} />`}`
}

/** After the panels have changed, focuses a tool of one: moved elements lose the focus. */
function useRefocus(box: { readonly current: HTMLElement | null }, panels: unknown) {
  const wanted = useRef<readonly [id: string, tool: string] | null>(null)
  useLayoutEffect(() => {
    if (wanted.current === null) return
    const [id, tool] = wanted.current
    wanted.current = null
    const panel = [...(box.current?.children ?? [])].find(
      (child) => (child as HTMLElement).dataset.panel === id,
    )
    const own = panel?.querySelector<HTMLElement>(`[data-tool=${tool}]:enabled`)
    const other = panel?.querySelector<HTMLElement>('[data-tool]:enabled')
    const target = own ?? other
    target?.focus()
  }, [panels])
  return (id: string, tool: string) => {
    wanted.current = [id, tool]
  }
}

const DRAGGED = 'application/x-weft-panel'

function dropTarget(onDrop: (id: string) => void) {
  return {
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault()
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      onDrop(event.dataTransfer?.getData(DRAGGED) ?? '')
    },
  }
}

interface ToolsProps {
  readonly panel: Panel
  readonly at: number
  readonly count: number
  readonly onMove: (panel: Panel, to: number, tool: string) => void
  readonly onRemove: (panel: Panel, at: number) => void
  readonly onEdit: (panel: Panel) => void
}

function Tools({ panel, at, count, onMove, onRemove, onEdit }: ToolsProps) {
  const name = nameOf(panel)
  const drag = ({ dataTransfer }: DragEvent) => dataTransfer?.setData(DRAGGED, panel.id)
  const tool = (key: string, label: string, look: IconName, act: () => void, isOff = false) =>
    html`<button class="ghost" data-tool=${key} aria-label=${`${label}: ${name}`} title=${label} disabled=${isOff} onClick=${act}>${icon(look)}</button>`
  return html`<div class="panel-tools" role="group" aria-label=${`Arrange ${name}`} draggable onDragStart=${drag}>
    ${icon('grip-horizontal')}
    <span class="push"></span>
    ${tool('earlier', 'Move earlier', 'arrow-up', () => onMove(panel, at - 1, 'earlier'), at === 0)}
    ${tool('later', 'Move later', 'arrow-down', () => onMove(panel, at + 1, 'later'), at === count - 1)}
    ${panel.own !== null && tool('edit', 'Edit', 'pencil', () => onEdit(panel))}
    ${tool('remove', 'Remove', 'x', () => onRemove(panel, at))}
  </div>`
}

type ContentProps = Omit<PanelGridProps, 'panels'> & { readonly panel: Panel }

function Content({ project, panel, charts, isLive }: ContentProps) {
  if (panel.own !== null)
    return html`<${LoadedPanel} project=${project} panel=${panel.own} isLive=${isLive} />`
  const chart = charts[panel.id as BuiltIn]
  return (
    chart ??
    html`<section class="card"><p class="nothing">This panel was made by another version of the page.</p></section>`
  )
}

const loadOwnPanel = async () => (await import('./own-panel.ts')).OwnPanelCard

interface LoadedPanelProps {
  readonly project: string
  readonly panel: OwnPanel
  readonly isLive: boolean
}

/** Most projects have none, so that the first view does without its module. */
function LoadedPanel(props: LoadedPanelProps) {
  const card = useLoad('own panel', loadOwnPanel)
  return card.value === null
    ? html`<section class="card"><${Failure} words=${card.failure} /></section>`
    : html`<${card.value} ...${props} />`
}

const loadForm = async () => (await import('./panel-form.ts')).PanelForm

interface LoadedFormProps {
  readonly project: string
  readonly panels: Panels
  /** Null for a new one. */
  readonly panel: Panel | null
  readonly onClose: () => void
}

function LoadedForm(props: LoadedFormProps) {
  const form = useLoad('form', loadForm)
  return form.value === null
    ? html`<${Failure} words=${form.failure} />`
    : html`<${form.value} ...${props} />`
}
