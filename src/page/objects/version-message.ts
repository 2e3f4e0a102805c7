/** Messages of versions, which say what changed: notes about the version, the first of them. */
import { requestJson } from '../api/client.ts'
import { caller } from '../api/session.ts'
import { type ObjectVersion, refOf } from './kinds.ts'

/** Limit of the server: characters of a note. */
export const MESSAGE_CHARS_MAX = 1024
const NOTE = 'wandb.note.1'
/** Limit: versions whose messages are read, the newest, and notes about them. */
const VERSIONS_MAX = 500
const NOTES_MAX = 2000

/** Writes the message of a version that was just published; '' writes none. @throws Error, with the version published */
export async function writeMessage(object: ObjectVersion, message: string): Promise<void> {
  if (message.trim() === '') return
  await requestJson('/traces/feedback/create', {
    project_id: object.project_id,
    weave_ref: refOf(object),
    creator: caller.value?.svc_username,
    feedback_type: NOTE,
    payload: { note: message.trim() },
  }).catch((cause: Error) => {
    throw new Error(`v${object.version_index} is saved, but its message is not: ${cause.message}`)
  })
}

/** The messages by the ref of the version. @param versions - of one project, the newest first */
export async function readMessages(
  versions: readonly ObjectVersion[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const [first] = versions
  if (first === undefined) return new Map()
  const refs = versions.slice(0, VERSIONS_MAX).map((version) => ({ $literal: refOf(version) }))
  const body = {
    project_id: first.project_id,
    fields: ['weave_ref', 'payload'],
    query: {
      $expr: {
        $and: [
          { $eq: [{ $getField: 'feedback_type' }, { $literal: NOTE }] },
          { $in: [{ $getField: 'weave_ref' }, refs] },
        ],
      },
    },
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: NOTES_MAX,
  }
  const { result } = await requestJson<{
    result: { weave_ref: string; payload: { note: string } }[]
  }>('/feedback/query', body, { signal })
  // Of several notes the oldest remains.
  return new Map(result.map(({ weave_ref, payload }) => [weave_ref, payload.note]))
}
