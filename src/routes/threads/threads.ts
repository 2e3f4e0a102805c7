/** Lists of threads. Addition to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { renderThread, resolveThreadListing } from '../../domain/threads/thread-sums.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { renderLines, sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { ThreadSchema, ThreadsQueryRequest } from '../../schemas/threads/thread.ts'
import type { Stores } from '../../store/api/stores.ts'

export async function threadRoutes(app: App, { threads }: Pick<Stores, 'threads'>): Promise<void> {
  app.post(
    '/threads/stream_query',
    {
      schema: {
        tags: ['calls'],
        operationId: 'streamThreads',
        summary: 'List threads, one JSON object per line (addition to the spec).',
        description:
          'A turn is a call whose id is its turn_id. A thread without a turn is not listed.',
        body: ThreadsQueryRequest,
        response: { 200: linesResponse('A thread a line.', ThreadSchema) },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const listing = resolveThreadListing(request.body)
      const caller = openReadCaller(request, reply, project_id)
      return sendLines(reply, renderLines(await threads.listThreads(listing, caller), renderThread))
    },
  )
}
