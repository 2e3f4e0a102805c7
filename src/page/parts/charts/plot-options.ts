/** A chart as uPlot draws it. */
import uPlot from 'uplot'
import { timeZone } from '../../shell/settings.ts'
import { formatExactTime } from '../format.ts'
import { limitsOf, longestOf, nameDuration, nameSteps, nameTimes, stepsOf } from './axes.ts'
import { bucketAt, endOf, middlesOf } from './buckets.ts'
import type { ChartProps } from './chart-props.ts'
import { announceSeries, labelButton, legendIn, reserveWidth } from './legend.ts'
import { type Line, pointsOf } from './line.ts'

export const HEIGHT_PX = 180
/** Heights of the axis of times with labels of one line, and of two. */
const TIMES_PX = 28
const TWO_LINES_PX = 44
/** Width of the axis without its labels, and of a digit. */
const AXIS_PX = 12
const CHARACTER_PX = 7
const MS_PER_S = 1000
/** A shorter drag counts as a click. */
const DRAG_MIN_PX = 4
const COLORS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5', '--chart-6']

/** The props of the chart as they are now. */
interface Last {
  readonly current: ChartProps
}

export function nameOf(time: number, unit: string | undefined): string {
  return unit === undefined ? formatExactTime(time * MS_PER_S) : `${unit} ${time}`
}

/** Values of buckets are drawn in their middles, those of steps at the steps. */
export function dataOf({ times, end, unit, lines }: ChartProps): uPlot.AlignedData {
  const places = unit === undefined ? middlesOf(times, endOf(times, end)) : [...times]
  return [places, ...lines.map(({ values }) => [...values])] as uPlot.AlignedData
}

export function optionsFor(last: Last, element: HTMLElement, legend: HTMLElement): uPlot.Options {
  const { unit, onZoom } = last.current
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * MS_PER_S), timeZone()),
    padding: [8, 18, 0, 0],
    cursor: {
      drag: {
        x: onZoom !== undefined,
        y: false,
        setScale: false,
        // By default a click that moves by one pixel is lost, and any on the last pixel, which the plot snaps to its edge.
        click: () => undefined,
      },
      // Synchronize only mouse moves: a range dragged in one chart must not be drawn in the others.
      sync: { key: unit ?? 'time', filters: { pub: (type) => /^mouse(?:move|leave)$/.test(type) } },
      ...(unit === undefined && {
        dataIdx: (_plot, _series, _closest, place) => bucketAt(last.current.times, place),
      }),
    },
    legend: legendIn(legend),
    scales: {
      x: { time: unit === undefined, ...(unit === undefined && { range: () => widthOf(last) }) },
      y: { range: (_plot, min, max) => limitsOf(min, max) },
    },
    axes: axesFor(last, element),
    series: [
      {
        label: unit ?? 'Time',
        value: (_plot, _place, _series, index) => {
          const time = index === null ? undefined : last.current.times[index]
          return time === undefined ? '' : nameInLegend(time, unit)
        },
      },
      ...last.current.lines.map((line, index) => seriesFor(line, index, last, element)),
    ],
    hooks: hooksFor(last, legend),
  }
}

/** All values that each row of the legend may show. */
function plotText({ times, unit, lines, format }: ChartProps): readonly (readonly string[])[] {
  const names = times.map((time) => nameInLegend(time, unit))
  return [names, ...lines.map(({ values }) => values.map((value) => wordsOfValue(value, format)))]
}

function nameInLegend(time: number, unit: string | undefined): string {
  return unit === undefined ? nameOf(time, unit) : String(time)
}

function wordsOfValue(value: number | null, format: ChartProps['format']): string {
  return value === null ? '–' : format(value)
}

/** Returns the range from the start of the first bucket to the end of the last. */
function widthOf({ current: { times, end } }: Last): [number, number] {
  return [times[0] ?? 0, endOf(times, end)]
}

function axesFor(last: Last, element: HTMLElement): uPlot.Axis[] {
  const { unit, format, isDuration = false } = last.current
  const axis = {
    stroke: colorOf('--faint', element),
    grid: { stroke: colorOf('--line', element), width: 1 },
    ticks: { show: false },
  }
  return [
    {
      ...axis,
      // The label of 0 ends beside the first of these.
      gap: 9,
      size: (_plot, labels) =>
        labels?.some((each) => each.includes('\n')) ? TWO_LINES_PX : TIMES_PX,
      values: (_plot, ticks) => (unit === undefined ? nameTimes(ticks) : nameSteps(ticks)),
    },
    {
      ...axis,
      incrs: () => [...stepsOf(last.current.lines, isDuration)],
      size: (_plot, labels) => AXIS_PX + CHARACTER_PX * longestOf(labels),
      values: (_plot, ticks) => ticks.map(isDuration ? nameDuration : format),
    },
  ]
}

function hooksFor(last: Last, legend: HTMLElement): uPlot.Hooks.Arrays {
  let isDragged = false
  return {
    setSeries: [announceSeries],
    setData: [() => reserveWidth(legend, plotText(last.current))],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
        if (width < DRAG_MIN_PX) return
        isDragged = true
        last.current.onZoom?.(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
      },
    ],
    ready: [
      ({ over, posToVal }) => {
        over.addEventListener('mousedown', () => {
          isDragged = false
        })
        over.addEventListener('click', ({ clientX }) => {
          if (isDragged) return
          const place = posToVal(clientX - over.getBoundingClientRect().left, 'x')
          last.current.onChoose?.(bucketAt(last.current.times, place))
        })
      },
    ],
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
    // Empty while the mouse is elsewhere, and a dash for a bucket without a value.
    value: (_plot, value, _series, index) => (index === null ? '' : wordsOfValue(value, format)),
    ...(isBars && bars ? { paths: bars, fill: stroke } : {}),
  }
}

function pointsFor(isEach: boolean): uPlot.Series.Points {
  const filter = (plot: uPlot, series: number) => pointsOf(plot.data[series] ?? [], isEach)
  return { show: true, size: isEach ? 5 : 4, filter }
}

/** Resolves a colour of the style sheet to that of the current theme, for the canvas. */
function colorOf(name: string, element: HTMLElement): string {
  const probe = element.appendChild(document.createElement('i'))
  probe.style.color = `var(${name})`
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
