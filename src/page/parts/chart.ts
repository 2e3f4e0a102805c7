/** A chart of values over time. A stretch that is drawn with the mouse zooms, a click chooses a bucket. */
import { html } from 'htm/preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { timeMode, timeZone } from '../shell/settings.ts'

const HEIGHT_PX = 180
const COLORS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5', '--chart-6']

export interface Line {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A name of a colour of the style sheet; by default the next one. */
  readonly color?: string
}

export interface ChartProps {
  readonly title: string
  /** Starts of buckets, seconds. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isBars?: boolean
  /** @param from - and `to`: seconds */
  readonly onZoom: (from: number, to: number) => void
  readonly onChoose: (index: number) => void
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const last = useRef(props)
  last.current = props
  const kind = `${props.lines.map(({ label }) => label).join('\n')} ${timeMode.value}`

  useEffect(() => {
    const element = box.current
    if (element === null) return
    const draw = () => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsFor(last, element.clientWidth), dataOf(last.current), element)
    }
    draw()
    const resize = new ResizeObserver(() => {
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

  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.lines])

  return html`<div class="chart" ref=${box} role="img" aria-label=${describe(props)}></div>`
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

function optionsFor(last: { readonly current: ChartProps }, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const colorOf = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: colorOf('--faint'), grid: { stroke: colorOf('--line'), width: 1 } }
  const { format, isBars, lines } = last.current
  return {
    width,
    height: HEIGHT_PX,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timeZone()),
    cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: 'time' } },
    legend: { live: true },
    scales: {
      x: { time: true },
      y: { range: (_plot, _min, max) => [0, Math.max(max, 1e-9) * 1.1] },
    },
    axes: [axis, { ...axis, size: 64, values: (_plot, ticks) => ticks.map(format) }],
    series: [
      {},
      ...lines.map(({ label, color }, index) => ({
        label,
        stroke: colorOf(color ?? COLORS[index % COLORS.length] ?? '--chart-1'),
        width: 1.5,
        spanGaps: false,
        points: { show: false },
        value: (_plot: uPlot, value: number | null) => (value === null ? '–' : format(value)),
        ...(isBars
          ? {
              paths: uPlot.paths.bars?.({ size: [0.8, 24] }),
              fill: `${colorOf(color ?? '--chart-1')}40`,
            }
          : {}),
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return
          const from = plot.posToVal(plot.select.left, 'x')
          const to = plot.posToVal(plot.select.left + plot.select.width, 'x')
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          last.current.onZoom(from, to)
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener('click', () => {
            if (plot.cursor.idx !== null && plot.cursor.idx !== undefined)
              last.current.onChoose(plot.cursor.idx)
          })
        },
      ],
    },
  }
}
