/** Two selected calls, compared over the list. */
import { html } from 'htm/preact'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { icon } from '../../parts/icon.ts'
import { Failure, Loading } from '../../parts/notice.ts'
import { Dialog } from '../../parts/overlay/dialog.ts'
import { setQuery } from '../../shell/location.ts'

interface CompareDrawerProps {
  readonly project: string
  /** Two ids, joined by a comma, as in the address. */
  readonly ids: string
}

/** Compares two calls over the list; null ends that. */
export function compareCalls(ids: readonly string[] | null): void {
  setQuery({ compare: ids?.join(',') ?? null }, { isStep: true })
}

const loadView = async () => (await import('./compared-calls.ts')).ComparedCalls

export function CompareDrawer({ project, ids }: CompareDrawerProps) {
  const view = useLoad('compare', loadView)
  const close = () => compareCalls(null)
  const View = view.value
  return html`<${Dialog} label="Two calls" kind="trace-drawer" onClose=${close}>
    <div class="drawer-inside">
      <div class="bar drawer-bar">
        <span class="push"></span>
        <button class="square" aria-label="Close" title="Close (Esc)" onClick=${close}>${icon('x')}</button>
      </div>
      <${Failure} words=${view.failure} />
      ${View === null ? view.isLoading && html`<${Loading} />` : html`<${View} project=${project} ids=${ids.split(',')} />`}
    </div>
  <//>`
}
