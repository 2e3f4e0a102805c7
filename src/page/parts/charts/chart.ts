/**
 * A chart of values over time, or over steps. Dragging with the mouse zooms into a range, a click selects a bucket;
 * keys do the same.
 */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { timeMode, timeZone } from '../../shell/settings.ts'
import { formatTime } from '../format.ts'
import { type Cursor, hasStretch, moveCursor, newCursor, stretchOf, wordsAt } from './cursor.ts'
import { labelButton, legendIn, tellShown } from './legend.ts'
import type { Line } from './line.ts'

const HEIGHT_PX = 180
/** Width of the axis without its labels, and of a digit. */
const AXIS_PX = 12
const CHARACTER_PX = 7
const MS_PER_S = 1000
const S_PER_DAY = 86_400
/** A shorter drag counts as a click. */
const DRAG_MIN_PX = 4
/** Top of a scale whose values are all 0. */
const TOP_MIN = 1e-9
const COLORS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5', '--chart-6']

export interface ChartProps {
  readonly title: string
  /** Starts of buckets, seconds; or numbers of steps. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isBars?: boolean
  /** Unit of `times` if it is not time. */
  readonly unit?: string
  /** @param from - and `to`: seconds */
  readonly onZoom?: (from: number, to: number) => void
  readonly onChoose?: (index: number) => void
}

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

  useLayoutEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.lines])

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
  const [cursor, setCursor] = useState<Cursor | null>(null)
  // As time goes on, a bucket eventually drops out of the chart.
  const shown = cursor !== null && times.includes(cursor.at) ? cursor : newCursor(times)
  useLayoutEffect(() => {
    if (cursor === null || shown === null) return
    // New data get their scale in a microtask.
    queueMicrotask(() => plot.current && showCursor(plot.current, shown))
  }, [cursor, times, lines])
  const press = (event: KeyboardEvent) => {
    // Key combinations with other modifiers belong to the browser.
    if (event.altKey || event.ctrlKey || event.metaKey || shown === null) return
    const moved = moveCursor(times, shown, event.key, event.shiftKey && onZoom !== undefined)
    if (moved !== null) setCursor(moved)
    else if (event.key === 'Escape' && hasStretch(shown)) setCursor({ ...shown, anchor: shown.at })
    // Ignored without a visible cursor: a held Enter would open a bucket of the range just zoomed into.
    else if (event.key !== 'Enter' || cursor === null) return
    else if (hasStretch(shown)) {
      onZoom?.(...stretchOf(times, shown))
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
    ...{ role: 'slider', tabindex: 0, onKeyDown: press, onFocus: enter, onBlur: leave },
    'aria-valuemin': 0,
    'aria-valuemax': Math.max(0, times.length - 1),
    'aria-valuenow': shown === null ? 0 : times.indexOf(shown.at),
    'aria-valuetext': shown === null ? '' : wordsAt(props, shown, (time) => nameOf(time, unit)),
  }
}

function showCursor(plot: uPlot, cursor: Cursor): void {
  const [times = [], values = []] = plot.data
  const { at } = cursor
  const [from, to] = hasStretch(cursor) ? stretchOf([...times], cursor) : [at, at]
  const left = plot.valToPos(from, 'x')
  const width = Math.min(plot.valToPos(to, 'x'), plot.over.clientWidth) - left
  plot.setSelect({ left, top: 0, width, height: plot.over.clientHeight }, false)
  const value = values[times.indexOf(at)] ?? 0
  plot.setCursor({ left: plot.valToPos(at, 'x'), top: plot.valToPos(value, 'y') })
}

function nameOf(time: number, unit: string | undefined): string {
  return unit === undefined ? formatTime(time * MS_PER_S, false) : `${unit} ${time}`
}

function dataOf({ times, lines }: ChartProps): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData
}

function describe({ title, lines, format }: ChartProps): string {
  const tops = lines.map(({ label, values }) => {
    const top = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0)
    return `${label} up to ${format(top)}`
  })
  return `${title}: ${tops.join(', ')}`
}

function optionsFor(
  last: { readonly current: ChartProps },
  element: HTMLElement,
  legend: HTMLElement,
): uPlot.Options {
  const { unit } = last.current
  const axis = {
    stroke: colorOf('--faint', element),
    grid: { stroke: colorOf('--line', element), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * MS_PER_S), timeZone()),
    padding: [8, 18, 0, 0],
    cursor: {
      drag: { x: last.current.onZoom !== undefined, y: false, setScale: false },
      // Synchronize only mouse moves: a range dragged in one chart must not be drawn in the others.
      sync: { key: unit ?? 'time', filters: { pub: (type) => /^mouse(?:move|leave)$/.test(type) } },
    },
    legend: legendIn(legend),
    scales: {
      x: { time: unit === undefined },
      // Losses may be negative; all other scales start at 0.
      y: { range: (_plot, min, max) => [Math.min(min, 0) * 1.1, (max > 0 ? max : TOP_MIN) * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_plot, ticks) => (unit === undefined ? nameTimes(ticks) : nameSteps(ticks)),
      },
      {
        ...axis,
        size: (_plot, labels) => AXIS_PX + CHARACTER_PX * longestOf(labels),
        values: (_plot, ticks) => ticks.map(last.current.format),
      },
    ],
    series: [
      {
        label: unit ?? 'Time',
        value: (_plot, time) => {
          if (time === null) return ''
          return unit === undefined ? formatTime(time * MS_PER_S, false) : String(time)
        },
      },
      ...last.current.lines.map((line, index) => seriesFor(line, index, last, element)),
    ],
    hooks: {
      setSeries: [tellShown],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < DRAG_MIN_PX) return
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          last.current.onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener('click', () => {
            const { idx } = plot.cursor
            if (idx !== null && idx !== undefined) last.current.onChoose?.(idx)
          })
        },
      ],
    },
  }
}

function seriesFor(
  { label, color }: Line,
  index: number,
  { current: { format, isBars, unit } }: { readonly current: ChartProps },
  element: HTMLElement,
): uPlot.Series {
  const stroke = colorOf(color ?? COLORS[index % COLORS.length] ?? '--chart-1', element)
  const bars = uPlot.paths.bars?.({ size: [0.8, 24] })
  return {
    label: labelButton(label),
    stroke,
    width: isBars ? 0 : 1.5,
    points: isBars ? { show: false } : pointsFor(unit !== undefined),
    // Empty without the mouse, and a dash on a bucket without a value.
    value: (_plot, value, _series, index) => {
      if (value !== null) return format(value)
      return index === null ? '' : '–'
    },
    ...(isBars && bars ? { paths: bars, fill: stroke } : {}),
  }
}

/** Steps are few, and each has a point; of a time only values that stand alone, which have no line. */
function pointsFor(isEach: boolean): uPlot.Series.Points {
  if (isEach) return { show: true, size: 5 }
  const filter = (plot: uPlot, series: number) => findLonely(plot.data[series] ?? [])
  return { show: true, size: 4, filter }
}

function findLonely(values: ArrayLike<number | null | undefined>): number[] {
  const has = (at: number) => values[at] !== null && values[at] !== undefined
  const all = Array.from({ length: values.length }, (_, at) => at)
  return all.filter((at) => has(at) && !has(at - 1) && !has(at + 1))
}

function longestOf(labels: readonly string[] | null): number {
  return Math.max(...(labels ?? []).map(({ length }) => length), 1)
}

/** A colour of the style sheet as the canvas takes it: of its two, the one of the theme. */
function colorOf(name: string, element: HTMLElement): string {
  const probe = element.appendChild(document.createElement('i'))
  probe.style.color = `var(${name})`
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Whole steps alone. */
function nameSteps(ticks: readonly number[]): string[] {
  return ticks.map((tick) => (Number.isInteger(tick) ? String(tick) : ''))
}

/** Returns the hour, or the day if the ticks are that far apart. */
function nameTimes(ticks: readonly number[]): string[] {
  const [first = 0, second = first] = ticks
  const isDaily = second - first >= S_PER_DAY
  return ticks.map((tick) => {
    const [day = '', hour = ''] = formatTime(tick * MS_PER_S, false).split(' ')
    return isDaily || hour === '00:00:00' ? day.slice(5) : hour.slice(0, 5)
  })
}
