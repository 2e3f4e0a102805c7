/** Reads the calls of a project for an export: those that are stored when it begins, also while servers run. */
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../../domain/calls/calls-query.ts'
import { createCallsQueryStore } from '../calls/query/calls-query.ts'
import { connectClickHouse } from '../db/client.ts'
import { requireMigrated } from '../db/migrate.ts'
import { createReads } from '../db/reads.ts'

export interface ProjectCalls {
  calls(): AsyncIterable<readonly CallTexts[]>
  close(): Promise<void>
}

/** @throws MigrationError when ClickHouse cannot be reached, or has another version */
export async function openProjectCalls(
  options: { readonly url: string; readonly readTimeoutMs: number },
  project_id: string,
): Promise<ProjectCalls> {
  const db = connectClickHouse(options)
  try {
    await requireMigrated(db)
  } catch (error) {
    await db.close()
    throw error
  }
  const reads = createReads(db, { slots: 1, queueMax: 1, waitMsMax: options.readTimeoutMs })
  const query = createCallsQueryStore({
    reads,
    joinedDataOf: () => {
      throw new Error('an export has no condition')
    },
    arrivals: { wait: async () => undefined },
  })
  return {
    async *calls() {
      const caller = { keyId: 'export', project_id, signal: new AbortController().signal }
      const selection = resolveCallsSelection({ project_id })
      for await (const page of query.pages(selection, resolveCallsShape({ project_id }), caller)) {
        yield page.map(({ call }) => call)
      }
    },
    close: db.close,
  }
}
