/**
 * A chart of values over time, or over steps. Dragging with the mouse zooms into a range, a click selects a bucket;
 * keys do the same.
 */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { timeMode } from '../../shell/settings.ts'
import { endOf } from './buckets.ts'
import type { ChartProps } from './chart-props.ts'
import {
  type Buckets,
  type Cursor,
  describeCursor,
  hasTimeSpan,
  moveCursor,
  newCursor,
  selectedRange,
} from './cursor.ts'
import { dataOf, HEIGHT_PX, nameOf, optionsFor } from './plot-options.ts'

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const last = useRef(props)
  last.current = props
  const kind = `${props.lines.map(({ label, color }) => `${label} ${color}`).join('\n')} ${timeMode.value}`

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(
        optionsFor(last, element, legend.current ?? element),
        dataOf(last.current),
        element,
      )
    }
    draw()
    const resize = new ResizeObserver(() => {
      // The observer also fires for the initial width.
      if (plot.current?.width !== element.clientWidth)
        plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX })
    })
    resize.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', draw)
    return () => {
      dark.removeEventListener('change', draw)
      resize.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [kind])

  useLayoutEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.end, props.lines])

  const walk = useWalk(plot, props)
  // Next to the slider, since screen readers skip the content of one.
  return html`<div class="chart">
    <div ref=${box} aria-label=${describe(props)} ...${walk}></div>
    <div ref=${legend} role="group" aria-label=${`Lines of ${props.title}`}></div>
  </div>`
}

/** Makes a chart a slider over its buckets: key handlers and ARIA attributes. */
function useWalk(plot: { readonly current: uPlot | null }, props: ChartProps) {
  const { times, lines, unit, onZoom, onChoose } = props
  const end = endOf(times, props.end)
  const [cursor, setCursor] = useState<Cursor | null>(null)
  // As time goes on, a bucket eventually drops out of the chart.
  const shown = cursor !== null && times.includes(cursor.at) ? cursor : newCursor(times)
  useLayoutEffect(() => {
    if (cursor === null || shown === null) return
    // New data get their scale in a microtask.
    queueMicrotask(() => plot.current && showCursor(plot.current, shown, { times, end }))
  }, [cursor, times, end, lines])
  const press = (event: KeyboardEvent) => {
    // Key combinations with other modifiers belong to the browser.
    if (event.altKey || event.ctrlKey || event.metaKey || shown === null) return
    const moved = moveCursor(times, shown, event.key, event.shiftKey && onZoom !== undefined)
    if (moved !== null) setCursor(moved)
    else if (event.key === 'Escape' && hasTimeSpan(shown)) setCursor({ ...shown, anchor: shown.at })
    // Ignored without a visible cursor: a held Enter would open a bucket of the range just zoomed into.
    else if (event.key !== 'Enter' || cursor === null) return
    else if (hasTimeSpan(shown)) {
      onZoom?.(...selectedRange({ times, end }, shown))
      leave()
    } else onChoose?.(times.indexOf(shown.at))
    event.preventDefault()
  }
  const enter = ({ currentTarget }: FocusEvent) => {
    // A click also focuses the chart, but has its own cursor.
    if ((currentTarget as HTMLElement).matches(':focus-visible')) setCursor(newCursor(times))
  }
  const leave = () => {
    if (cursor === null) return
    setCursor(null)
    plot.current?.setCursor({ left: -1, top: -1 })
    plot.current?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  }
  return {
    role: 'slider',
    tabindex: 0,
    onKeyDown: press,
    onFocus: enter,
    onBlur: leave,
    'aria-valuemin': 0,
    'aria-valuemax': Math.max(0, times.length - 1),
    'aria-valuenow': shown === null ? 0 : times.indexOf(shown.at),
    'aria-valuetext':
      shown === null ? '' : describeCursor({ ...props, end }, shown, (time) => nameOf(time, unit)),
  }
}

function showCursor(plot: uPlot, cursor: Cursor, buckets: Buckets): void {
  const [places = [], values = []] = plot.data
  const { at } = cursor
  const [from, to] = hasTimeSpan(cursor) ? selectedRange(buckets, cursor) : [at, at]
  const left = plot.valToPos(from, 'x')
  const width = plot.valToPos(to, 'x') - left
  plot.setSelect({ left, top: 0, width, height: plot.over.clientHeight }, false)
  const index = buckets.times.indexOf(at)
  const top = plot.valToPos(values[index] ?? 0, 'y')
  plot.setCursor({ left: plot.valToPos(places[index] ?? at, 'x'), top })
}

function describe({ title, lines, format }: ChartProps): string {
  const tops = lines.map(({ label, values }) => {
    const top = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0)
    return `${label} up to ${format(top)}`
  })
  return `${title}: ${tops.join(', ')}`
}
