/** The trace of a call over the list, which stays as it is. */
import { html } from 'htm/preact'
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../../parts/copy-button.ts'
import { formatCount } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { icon } from '../../parts/icon.ts'
import { Failure, Loading } from '../../parts/notice.ts'
import { Dialog } from '../../parts/overlay/dialog.ts'
import { query, setQuery } from '../../shell/location.ts'
import { pathTo } from '../../shell/page-route.ts'

interface TraceDrawerProps {
  readonly project: string
  /** Id of the call. */
  readonly id: string
  /** Index of the call in the list; -1 while it is unknown. */
  readonly at: number
  /** Number of calls in the list. */
  readonly count: number
  readonly onMove: (index: number) => void
}

/** Opens a call over the list. @param isStep - whether the back button closes it */
export function openTrace(id: string | null, isStep: boolean): void {
  setQuery({ open: id, call: null }, { isStep })
}

const loadTrace = async () => (await import('../../trace/trace.ts')).Trace

export function TraceDrawer({ project, id, at, count, onMove }: TraceDrawerProps) {
  const view = useLoad('trace', loadTrace)
  const last = useRef(at)
  last.current = at
  const close = () => openTrace(null, true)
  const hasPrevious = at > 0
  const hasNext = at >= 0 && at < count - 1
  useKeys({ j: hasNext && (() => onMove(at + 1)), k: hasPrevious && (() => onMove(at - 1)) })
  const path = pathTo(project, 'calls', id)
  const chosen = query.value.get('call')
  const page = chosen === null ? path : `${path}?${new URLSearchParams({ call: chosen })}`
  const View = view.value
  return html`<${Dialog} label="Trace" kind="trace-drawer" onClose=${close} onFocusBack=${() => focusRow(last.current)}>
    <div class="drawer-inside">
      <div class="bar drawer-bar">
        <button class="square" aria-label="Previous call of the list" title="Previous (k)" aria-keyshortcuts="k" disabled=${!hasPrevious} onClick=${() => onMove(at - 1)}>${icon('arrow-up')}</button>
        <button class="square" aria-label="Next call of the list" title="Next (j)" aria-keyshortcuts="j" disabled=${!hasNext} onClick=${() => onMove(at + 1)}>${icon('arrow-down')}</button>
        <span class="faint" role="status">${at >= 0 && `${formatCount(at + 1)} of ${formatCount(count)}`}</span>
        <span class="push"></span>
        <${CopyButton} words="Copy link" text=${`${location.origin}${page}`} />
        <a class="button" href=${page} title="Open as a page of its own">${icon('maximize-2')} Open</a>
        <button class="square" aria-label="Close" title="Close (Esc)" onClick=${close}>${icon('x')}</button>
      </div>
      <${Failure} words=${view.failure} />
      ${View === null ? view.isLoading && html`<${Loading} />` : html`<${View} key=${id} project=${project} subject=${id} />`}
    </div>
  <//>`
}

/** The row of the call that was open is the one to go on from. */
function focusRow(index: number): void {
  const link = document.querySelector<HTMLElement>(`.calls [aria-rowindex="${index + 1}"] a`)
  link?.focus({ preventScroll: true })
}

type Keys = Readonly<Record<string, false | (() => void)>>

/** Single keys, outside of fields. */
function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if ((event.target as Element).matches('input, textarea, select')) return
      const act = latest.current[event.key]
      if (!act) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
