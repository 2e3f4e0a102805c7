/**
 * The paths in payloads, asked for each feedback type separately: feedback without a trigger is one group, and the server
 * samples only the newest payload of a group. The payloads listed on the page complete its answer.
 */
import { requestJson } from '../api/client.ts'
import type { PayloadPath } from '../api/wire.ts'
import { leafPathsOf } from './leaf-paths.ts'
import { type FeedbackRow, type FeedbackWindow, newestFirst } from './newest-rows.ts'

/** Limit: newest feedback in which types are searched; all others show when their type is chosen. */
const ROWS_MAX = 1000
/** Limit: types. */
const TYPES_MAX = 20

/**
 * Paths of all types, each once, in the order of their names.
 *
 * @param rows - the newest feedback of the time
 */
export async function readPaths(
  asked: FeedbackWindow,
  rows: readonly FeedbackRow[],
  signal: AbortSignal,
): Promise<readonly PayloadPath[]> {
  const types =
    asked.feedback_type === null ? await readTypes(asked, signal) : [asked.feedback_type]
  const answers = await Promise.all(
    types.map(async (feedback_type) => {
      const body = { ...asked, feedback_type }
      const { paths } = await requestJson<{ paths: PayloadPath[] }>(
        '/feedback/payload_schema',
        body,
        {
          signal,
        },
      )
      const own = rows.filter((row) => row.feedback_type === feedback_type)
      return completed(paths, leafPathsOf(own.map(({ payload }) => payload)))
    }),
  )
  const byName = new Map(
    answers.flat().map((path) => [`${path.json_path} ${path.value_type}`, path]),
  )
  return [...byName].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, path]) => path)
}

/** Returns, for a path in both lists, the type that occurs in more payloads. */
function completed(
  paths: readonly PayloadPath[],
  inRows: readonly PayloadPath[],
): readonly PayloadPath[] {
  const known = new Set(inRows.map(({ json_path }) => json_path))
  return [...inRows, ...paths.filter(({ json_path }) => !known.has(json_path))]
}

async function readTypes(asked: FeedbackWindow, signal: AbortSignal): Promise<readonly string[]> {
  const body = newestFirst(asked, ['feedback_type'], ROWS_MAX)
  const { result } = await requestJson<{ result: { feedback_type: string }[] }>(
    '/feedback/query',
    body,
    {
      signal,
    },
  )
  const types = new Set(result.map(({ feedback_type }) => feedback_type))
  return [...types].slice(0, TYPES_MAX)
}
