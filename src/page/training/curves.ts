/** Numbers of training over steps, a chart for each. */
import { html } from 'htm/preact'
import { Chart } from '../parts/charts/chart.ts'
import { CopyCurl } from '../parts/charts/copy-curl.ts'
import type { Line } from '../parts/charts/line.ts'
import { formatNumber } from '../parts/format.ts'

/** Shown first, in this order; the others unfold. */
const FIRST = ['reward', 'loss', 'entropy', 'kl_div', 'grad_norm']
/** Lines drawn in the chart of another number. */
const BESIDE: Readonly<Record<string, readonly string[]>> = { reward: ['reward_std_dev'] }

interface Point {
  readonly step: number
  /** Numbers by name. */
  readonly metrics: Readonly<Record<string, unknown>>
}

interface CurvesProps {
  readonly points: readonly Point[]
  /** What is counted on the horizontal axis. */
  readonly unit: string
  /** Address of the request for the points. */
  readonly source: string
}

export function Curves({ points, unit, source }: CurvesProps) {
  const names = [...new Set(points.flatMap(({ metrics }) => Object.keys(metrics)))]
  const beside = new Set(Object.values(BESIDE).flat())
  const first = FIRST.filter((name) => names.includes(name))
  const others = names.filter((name) => !FIRST.includes(name) && !beside.has(name)).sort()
  if (points.length === 0) return null
  const cards = (shown: readonly string[]) =>
    shown.map(
      (name) =>
        html`<${Card} key=${name} title=${name} lines=${linesOf(name, names, points)} steps=${points.map(({ step }) => step)} unit=${unit} source=${source} />`,
    )
  return html`<div class="charts dense">${cards(first)}</div>
    ${
      others.length > 0 &&
      html`<details class="part"><summary>${others.length} other ${others.length === 1 ? 'number' : 'numbers'}</summary><div class="charts dense">${cards(others)}</div></details>`
    }`
}

function linesOf(name: string, names: readonly string[], points: readonly Point[]): Line[] {
  const shown = [name, ...(BESIDE[name] ?? []).filter((other) => names.includes(other))]
  return shown.map((label) => ({
    label,
    values: points.map(({ metrics }) => numberOf(metrics[label])),
  }))
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

interface CardProps {
  readonly title: string
  readonly lines: readonly Line[]
  readonly steps: readonly number[]
  readonly unit: string
  readonly source: string
}

function Card({ title, lines, steps, unit, source }: CardProps) {
  const last = lines[0]?.values.findLast((value) => value !== null)
  return html`<section class="card">
    <header><h2>${title}</h2><span class="number">${last === null || last === undefined ? '' : formatNumber(last)}</span><span class="push"></span><${CopyCurl} path=${source} /></header>
    <${Chart} title=${title} times=${steps} lines=${lines} format=${formatNumber} unit=${unit} />
  </section>`
}
