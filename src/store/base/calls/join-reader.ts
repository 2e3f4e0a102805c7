/** Data that lists of calls in one store read from another: feedback and the values of refs. */
import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { CallJoins, ScannedCall } from '../../../domain/calls/call-fields.ts'

/** Data about the calls of another store; feedback should be read ahead with `prepare`. */
export interface JoinReader {
  readonly beside: CallJoins
  /**
   * Reads the feedback that these fields of some calls of one project need. It replaces what an earlier call read.
   *
   * @param caller - in whose turn the read runs
   */
  prepare(
    calls: readonly ScannedCall[],
    paths: readonly (readonly string[])[],
    caller: ReadCaller,
  ): Promise<void>
}
