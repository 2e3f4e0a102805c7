/** The steps of a completion, as exchanged between the completion and the scheduler. */
import type { Delta } from '../../backend.ts'
import type { Part, PassLogits } from '../model/transformer.ts'

/** The deltas of a generation and its next computation, which may have no parts. */
export interface Step<Piece = Delta> {
  readonly deltas: readonly Piece[]
  /** PASS_TOKENS_MAX tokens together at most. */
  readonly parts: readonly Part[]
  /** Until it settles the generation must not be continued. */
  readonly waitsFor?: Promise<unknown>
}

/** A step that lets others have a turn. */
export const NOTHING: Step<never> = { deltas: [], parts: [] }

/**
 * One request under way: takes the logits of the parts that it asked for, returns the last deltas. The
 * first call takes none.
 */
export type Generation<Piece = Delta, Result = readonly Piece[]> = Generator<
  Step<Piece>,
  Result,
  PassLogits
>
