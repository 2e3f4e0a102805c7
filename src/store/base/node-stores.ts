/** The stores of a node on which a separate store of calls is built, and the data that its lists read from them. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import type { CallJoins, ScannedCall } from '../../domain/calls/call-fields.ts'
import type { CallsSelection } from '../../domain/calls/calls-query.ts'
import type { AnnotationStore } from '../api/annotation/annotation-queues.ts'
import type { CallsQueryStore } from '../api/calls/calls.ts'
import type { Stores } from '../api/stores.ts'
import type { Arrivals } from './recordings/recordings.ts'

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

/** The stores of a node, in any database, with what a separate store of calls builds on. */
export interface NodeStores extends Stores {
  /** Reads what conditions of lists need besides the calls, whichever database has those. */
  readonly joinedDataOf: (
    selection: Pick<CallsSelection, 'expanded' | 'reach' | 'prices'>,
  ) => JoinReader
  /** Annotation queues of calls, whichever database has those. */
  readonly annotationOf: (callsQuery: CallsQueryStore) => AnnotationStore
  /** Recorded calls that are not stored yet. */
  readonly arrivals: Arrivals
}
