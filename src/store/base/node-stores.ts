/** The stores of a node on which a separate store of calls is built. */
import type { CallsSelection } from '../../domain/calls/calls-query.ts'
import type { AnnotationStore } from '../api/annotation/annotation-queues.ts'
import type { CallsQueryStore } from '../api/calls/calls-query.ts'
import type { Stores } from '../api/stores.ts'
import type { JoinReader } from './calls/join-reader.ts'
import type { Arrivals } from './recordings/arrivals.ts'

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
