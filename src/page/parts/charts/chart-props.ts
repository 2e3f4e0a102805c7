/** The content of a chart and its callbacks. */
import type { Line } from './line.ts'

export interface ChartProps {
  readonly title: string
  /** Starts of buckets, seconds; or numbers of steps. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isBars?: boolean
  /** Whether the values are milliseconds. */
  readonly isDuration?: boolean
  /** End of the last bucket, seconds; by default the last one is as long as the one before. */
  readonly end?: number
  /** Unit of `times` if it is not time. */
  readonly unit?: string
  /** @param from - and `to`: seconds */
  readonly onZoom?: (from: number, to: number) => void
  readonly onChoose?: (index: number) => void
}
