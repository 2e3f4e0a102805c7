/** Stores calls that the server itself records. */
import type { CallParts } from '../../../domain/calls/new-call.ts'
import { type RecordedCall, resolveRecordedCall } from '../../../domain/calls/recorded-call.ts'
import { type Failure, renderFailure } from '../../../threads/thread-failure.ts'
import type { CallWrites } from '../calls/call-writes.ts'

/** @returns the errors of refused calls; the others are stored */
export async function recordCalls(
  writes: Pick<CallWrites, 'writeParts'>,
  calls: Iterable<RecordedCall>,
): Promise<Failure[]> {
  const parts: CallParts[] = []
  const refused: Failure[] = []
  for (const call of calls) {
    try {
      parts.push(resolveRecordedCall(call))
    } catch (error) {
      refused.push(renderFailure(error))
    }
  }
  const written = await writes.writeParts(parts)
  return [...refused, ...written.flatMap(({ error }) => (error ? [renderFailure(error)] : []))]
}
