/**
 * What payloads hold, asked for each type by itself: feedback that nothing set off is one group, of which only the newest
 * payload is looked into, and a note would hide the scores before it.
 */
import { ask } from '../api/client.ts'
import type { PayloadPath } from '../api/wire.ts'
import { newestFirst } from './newest-first.ts'
import type { FeedbackWindow } from './window.ts'

/** Limit: feedback whose types are looked into, the newest; all others show when their type is chosen. */
const ROWS_MAX = 1000
/** Limit: types. */
const TYPES_MAX = 20

/** Paths of all types, each once, in the order of their names. */
export async function readPaths(
  asked: FeedbackWindow,
  signal: AbortSignal,
): Promise<readonly PayloadPath[]> {
  const types =
    asked.feedback_type === null ? await readTypes(asked, signal) : [asked.feedback_type]
  const answers = await Promise.all(
    types.map((feedback_type) =>
      ask<{ paths: PayloadPath[] }>(
        '/feedback/payload_schema',
        { ...asked, feedback_type },
        { signal },
      ),
    ),
  )
  const paths = answers.flatMap(({ paths }) => paths)
  const byName = new Map(paths.map((path) => [`${path.json_path} ${path.value_type}`, path]))
  return [...byName].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, path]) => path)
}

async function readTypes(asked: FeedbackWindow, signal: AbortSignal): Promise<readonly string[]> {
  const body = newestFirst(asked, ['feedback_type'], ROWS_MAX)
  const { result } = await ask<{ result: { feedback_type: string }[] }>('/feedback/query', body, {
    signal,
  })
  const types = new Set(result.map(({ feedback_type }) => feedback_type))
  return [...types].slice(0, TYPES_MAX)
}
