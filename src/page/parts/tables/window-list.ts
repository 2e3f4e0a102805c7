/** A list of any length. Only the visible rows are in the document. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Rows beyond both edges, so that fast scrolling finds them there. */
const MARGIN_ROWS = 10
/** Assumed height in pixels until the list is measured. */
const HEIGHT_PX = 800
/** Limit: browsers silently cut off elements that are higher. */
const HEIGHT_MAX_PX = 16_000_000

interface WindowListProps {
  readonly count: number
  /** Pixels; each row has the same height. */
  readonly rowHeight: number
  readonly label: string
  /** ARIA role of the list. */
  readonly role: 'rowgroup' | 'group' | 'tree'
  /** The row that is scrolled into sight when it changes. */
  readonly shown?: number
  /** Scroll position in pixels, applied once there are enough rows. */
  readonly startAt?: number
  /** Called with the pixels above the rows in sight. */
  readonly onScroll?: (top: number) => void
  /** Id of the row that has the focus, while the list has it. */
  readonly active?: string
  readonly onKeyDown?: (event: KeyboardEvent) => void
  /** Called with the rows that are in the document. */
  readonly onWindow?: (first: number, last: number) => void
  readonly renderRow: (index: number) => ComponentChildren
}

/** Returns the number of rows that a list can show. */
export function rowsMax(rowHeight: number): number {
  return Math.floor(HEIGHT_MAX_PX / rowHeight)
}

export function WindowList(props: WindowListProps) {
  const { rowHeight, label, role, shown, active, onKeyDown, onScroll, onWindow, renderRow } = props
  const count = Math.min(props.count, rowsMax(rowHeight))
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ first: 0, last: Math.ceil(HEIGHT_PX / rowHeight) })

  useEffect(() => {
    const element = box.current
    if (element === null) return
    const look = () => {
      const { scrollTop, clientHeight } = element
      const first = Math.floor(scrollTop / rowHeight)
      const last = Math.ceil((scrollTop + clientHeight) / rowHeight)
      // Most steps of a scroll stay within the same rows.
      setView((old) => (old.first === first && old.last === last ? old : { first, last }))
    }
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [rowHeight])

  useLayoutEffect(() => {
    const element = box.current
    if (element === null || shown === undefined || shown < 0) return
    const [top, bottom] = [shown * rowHeight, (shown + 1) * rowHeight]
    const { scrollTop, clientHeight } = element
    // A row that is far away is shown with those around it.
    if (bottom < scrollTop || top > scrollTop + clientHeight)
      element.scrollTop = (top + bottom - clientHeight) / 2
    else if (top < scrollTop) element.scrollTop = top
    else if (bottom > scrollTop + clientHeight) element.scrollTop = bottom - clientHeight
  }, [shown])

  const startAt = useRef(props.startAt ?? 0)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null || startAt.current === 0) return
    // Do not move readers who have scrolled in the meantime.
    if (element.scrollTop > 0) startAt.current = 0
    else if (element.scrollHeight - element.clientHeight >= startAt.current) {
      element.scrollTop = startAt.current
    }
  }, [count])

  const first = Math.max(0, Math.min(view.first, count) - MARGIN_ROWS)
  const last = Math.min(count, view.last + MARGIN_ROWS)
  useEffect(() => onWindow?.(first, last), [first, last, count, onWindow])

  const rows = []
  for (let index = first; index < last; index++) rows.push(renderRow(index))
  return html`<div
    class="window-list"
    style=${{ '--list-height': `${count * rowHeight}px` }}
    ref=${box}
    tabindex="0"
    role=${role}
    aria-label=${label}
    aria-activedescendant=${active}
    onKeyDown=${onKeyDown}
    onScroll=${onScroll && ((event: Event) => onScroll((event.target as HTMLElement).scrollTop))}
  >
    <div class="window-rows" style=${{ height: `${count * rowHeight}px` }}>
      <div style=${{ transform: `translateY(${first * rowHeight}px)` }}>${rows}</div>
    </div>
  </div>`
}
