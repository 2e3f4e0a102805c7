/**
 * Lays out sequences with a common prefix in one pass, so that the prefix is computed once: rollouts of one task
 * share their prompt. Pure. A sequence must get the same results as in a pass of its own, up to rounding.
 */
import type { TrainingSequence } from '../worker/trajectory-reader.ts'

/** The rows of a pass, one per token: first those that all sequences share, then each one's own. */
export interface Layout {
  readonly ids: readonly number[]
  /** Position of each row's token in its sequence. */
  readonly positions: readonly number[]
  /** Number of rows that all sequences share. */
  readonly shared: number
  /** For each row the first row of its own sequence; 0 for a shared one. It sees these and the shared. */
  readonly starts: readonly number[]
  /** For each sequence the rows that predict its trained tokens; they may be shared. */
  readonly wanted: readonly (readonly number[])[]
}

/** An object that stands for a sequence. */
interface Holder {
  readonly sequence: TrainingSequence
}

/** Limit: rows of one pass, for its memory; about 40 kB each in the shipped model. */
export const PASS_ROWS_MAX = 512

/**
 * Splits sequences into runs that are laid out together, in order. A run grows while it has fewer rows
 * than its parts would have, to at most PASS_ROWS_MAX unless it is a single sequence.
 */
export function findRuns<T extends Holder>(holders: readonly T[]): T[][] {
  const runs: T[][] = []
  let run: T[] = []
  let rows = 0
  let shared = 0
  for (const holder of holders) {
    const length = readLength(holder.sequence)
    const first = run[0]?.sequence
    const common = first === undefined ? 0 : Math.min(shared, commonLength(first, holder.sequence))
    const joined = rows + (run.length - 1) * (shared - common) + length - common
    if (first === undefined || joined > PASS_ROWS_MAX || joined >= rows + length) {
      run = [holder]
      runs.push(run)
      rows = length
      shared = length
    } else {
      run.push(holder)
      rows = joined
      shared = common
    }
  }
  return runs
}

/** Lays out one pass for one or more sequences. */
export function layOut(sequences: readonly TrainingSequence[]): Layout {
  const [first] = sequences
  if (first === undefined) throw new RangeError('a pass without a sequence')
  const shared = Math.min(...sequences.map((sequence) => commonLength(first, sequence)))
  const ids = first.ids.slice(0, shared)
  const positions = ids.map((_, position) => position)
  const starts = ids.map(() => 0)
  const wanted = sequences.map((sequence) => {
    const start = ids.length
    for (let position = shared; position < readLength(sequence); position++) {
      ids.push(sequence.ids[position] ?? 0)
      positions.push(position)
      starts.push(start)
    }
    return sequence.places.map((place) =>
      place <= shared ? place - 1 : start + place - 1 - shared,
    )
  })
  return { ids, positions, shared, starts, wanted }
}

/** Returns the number of tokens to read: nothing after the last trained token matters. */
function readLength({ places }: TrainingSequence): number {
  return places.at(-1) ?? 0
}

function commonLength(a: TrainingSequence, b: TrainingSequence): number {
  const limit = Math.min(readLength(a), readLength(b))
  let length = 0
  while (length < limit && a.ids[length] === b.ids[length]) length++
  return length
}
