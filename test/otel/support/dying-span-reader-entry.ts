/** Entry of a thread that dies of its memory when a project is named `huge`, as a request does that is too large for it. */
import type { ReadRequest } from '../../../src/otel/read-request.ts'
import type { ThreadAnswer } from '../../../src/otel/span-reader-entry.ts'

export function readTraces({ project_id }: ReadRequest): ThreadAnswer {
  const kept: object[] = []
  while (project_id === 'huge') kept.push(new Array(1000).fill({}))
  const projects = [project_id ?? '']
  return { spans: { projects, calls: [], feedback: [], rejected: 0, message: null } }
}
