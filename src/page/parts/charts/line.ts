/** A line of a chart. */
export interface Line {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A name of a colour of the style sheet; by default the next one. */
  readonly color?: string
}
