/** The contract of agents, derived from calls that were received as OpenTelemetry spans. */

import type { ReadCaller } from '../../../domain/access/read-caller.ts'
import type { SpanList, SpanPage } from '../../../domain/agents/span-list.ts'
import type { SpanRead, SpanReadInput, SpanReadResult } from '../../../domain/agents/span-reads.ts'

/**
 * All methods read only calls that were sent as spans and are not deleted. Each throws ApiError
 * validation_failed for a response or a state that is too large, server_overloaded, read_timeout,
 * client_closed_request, store_unavailable.
 */
export interface AgentStore {
  listSpans(list: SpanList, caller: ReadCaller): Promise<SpanPage>
  /** Performs a read of SPAN_READS. */
  read<Name extends SpanRead>(
    name: Name,
    input: SpanReadInput<Name>,
    caller: ReadCaller,
  ): Promise<SpanReadResult<Name>>
}
