/** One request of logs, whichever way it came: read, authorized, its messages stored durably with their spans. */

import { requireAccess, requireScope } from '../domain/access/permissions.ts'
import type { SpanLog } from '../domain/calls/call-logs.ts'
import { onlyProjectOf, projectOfHeaders } from '../domain/projects/named-project.ts'
import type { RecordExport, SpanRecorderOptions } from './record-spans.ts'

type LogRecorderOptions = Pick<SpanRecorderOptions, 'calls' | 'reader' | 'refScheme' | 'nowUs'>

/** Limits of one commit: records, and characters of them; one record alone may have more. */
const BATCH_LOGS = 1000
const BATCH_CHARACTERS = 4 * 1024 * 1024

/** Records that are no messages of a span are discarded. */
export function createLogRecorder({
  calls,
  reader,
  refScheme,
  nowUs,
}: LogRecorderOptions): RecordExport {
  return async ({ encoding, bytes, headers, caller: sender }) => {
    const caller = requireScope(sender, 'traces:write')
    const { svc_user_id, svc_username } = caller
    const { projects, logs, rejected, message } = await reader.readLogs({
      encoding,
      bytes,
      refScheme,
      svc_user_id,
      svc_username,
      project_id: projectOfHeaders(headers),
      default_project_id: onlyProjectOf(caller),
    })
    for (const project_id of projects) requireAccess(caller, 'traces:write', project_id)
    let left = 0
    for (const batch of batchesOf(logs)) {
      const written = { logs: batch, received_at_us: nowUs(), ref_scheme: refScheme }
      left += await calls.writeLogs(written)
    }
    const why = message ?? (left > 0 ? 'too many records wait for their spans' : null)
    return why === null ? null : { rejected: rejected + left, message: why }
  }
}

function* batchesOf(logs: readonly SpanLog[]): Generator<readonly SpanLog[]> {
  let batch: SpanLog[] = []
  let characters = 0
  for (const log of logs) {
    const { length } = log.event_json
    const isFull = batch.length === BATCH_LOGS || characters + length > BATCH_CHARACTERS
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(log)
    characters += length
  }
  if (batch.length > 0) yield batch
}
