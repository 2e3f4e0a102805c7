/** Differences of two texts by lines, with some lines around each. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { align, type Step } from '../parts/align.ts'

/** Lines around a difference. */
const AROUND = 3
/** Limit: lines that are shown before a person asks for all. */
const LINES_SHOWN = 1000

interface TextDifferenceProps {
  readonly before: string
  readonly after: string
}

interface Line {
  readonly kind: Step['kind'] | 'gap'
  readonly text: string
}

const MARKS: Readonly<Record<Line['kind'], string>> = {
  same: ' ',
  removed: '-',
  added: '+',
  gap: '⋯',
}

export function TextDifference({ before, after }: TextDifferenceProps) {
  const [isWhole, setWhole] = useState(false)
  const lines = useMemo(
    () => linesOf(before.split('\n'), after.split('\n'), isWhole),
    [before, after, isWhole],
  )
  const shown = isWhole ? lines : lines.slice(0, LINES_SHOWN)
  return html`<pre class="code lines" tabindex="0" aria-label="Differences of the text">${shown.map(
    ({ kind, text }, at) =>
      html`<span key=${at} class=${`line ${kind}`}>${MARKS[kind]} ${text}${'\n'}</span>`,
  )}</pre>
    <button class="quiet" onClick=${() => setWhole(!isWhole)}>${isWhole ? 'show only the differences' : 'show all lines'}</button>`
}

function linesOf(before: readonly string[], after: readonly string[], isWhole: boolean): Line[] {
  const steps = align(before, after)
  const isNear = markNear(steps)
  const lines: Line[] = []
  for (const [at, { kind, before: from, after: to }] of steps.entries()) {
    const text = (kind === 'added' ? after[to] : before[from]) ?? ''
    if (isWhole || isNear[at]) lines.push({ kind, text })
    else if (lines.at(-1)?.kind !== 'gap') lines.push({ kind: 'gap', text: '' })
  }
  return lines
}

/** For each step, whether it is a difference or close to one. */
function markNear(steps: readonly Step[]): boolean[] {
  const isNear = new Array<boolean>(steps.length).fill(false)
  for (const [at, { kind }] of steps.entries()) {
    if (kind !== 'same') isNear.fill(true, Math.max(0, at - AROUND), at + AROUND + 1)
  }
  return isNear
}
