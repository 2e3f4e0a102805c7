/** A list of any length of which only the rows in sight are in the document. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows beyond both edges, so that fast scrolling finds them there. */
const MARGIN_ROWS = 10

export interface WindowListProps {
  readonly count: number
  /** Pixels; each row has the same height. */
  readonly rowHeight: number
  readonly label: string
  /** What its rows are together. */
  readonly role: 'rowgroup' | 'group'
  /** Called with the rows that are in the document. */
  readonly onWindow?: (first: number, last: number) => void
  readonly renderRow: (index: number) => ComponentChildren
}

export function WindowList({
  count,
  rowHeight,
  label,
  role,
  onWindow,
  renderRow,
}: WindowListProps) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })

  useEffect(() => {
    const element = box.current
    if (element === null) return
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])

  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN_ROWS)
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + MARGIN_ROWS)
  useEffect(() => onWindow?.(first, last), [first, last, count, onWindow])

  const rows = []
  for (let index = first; index < last; index++) rows.push(renderRow(index))
  return html`<div class="window-list" ref=${box} tabindex="0" role=${role} aria-label=${label}>
    <div class="window-rows" style=${{ height: `${count * rowHeight}px` }}>
      <div style=${{ transform: `translateY(${first * rowHeight}px)` }}>${rows}</div>
    </div>
  </div>`
}
