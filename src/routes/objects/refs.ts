/**
 * Reading values by refs.
 *
 * Spec: §2.1 (shapes of refs). Choice: the route of the public tracing clients.
 */
import { canUseProject, requireScope } from '../../domain/access/permissions.ts'
import { parseReadableRef } from '../../domain/objects/readable-ref.ts'
import { ApiError, isNotFound } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { RefsReadBatchRequest, RefsReadBatchResponse } from '../../schemas/objects/ref-read.ts'
import type { Stores } from '../../store/api/stores.ts'
import { createBudget, createRefReader } from './ref-reader.ts'

export async function refRoutes(
  app: App,
  { objects, tables }: Pick<Stores, 'objects' | 'tables'>,
): Promise<void> {
  app.post(
    '/refs/read_batch',
    {
      schema: {
        tags: ['objects'],
        operationId: 'readRefs',
        summary: 'Read the values that refs point to.',
        body: RefsReadBatchRequest,
        response: { 200: RefsReadBatchResponse },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'traces:read')
      const canRead = (projectId: string) => canUseProject(caller, projectId)
      const refs = request.body.refs.map(requireReadableRef)
      const read = createRefReader({ objects, tables, canRead })
      const spend = createBudget()
      const vals: string[] = []
      for (const [at, ref] of refs.entries()) {
        // Written at once, because many refs to one large value make a much larger response.
        const text = JSON.stringify(await read(ref).catch(atRef(at)))
        spend(text.length)
        vals.push(text)
      }
      const body: unknown = `{"vals":[${vals.join(',')}]}`
      return reply.type('application/json; charset=utf-8').send(body as RefsReadBatchResponse)
    },
  )
}

function requireReadableRef(text: string, at: number) {
  const ref = parseReadableRef(text)
  if (ref !== null) return ref
  const param = `refs[${at}]`
  const message = `${param} must be an object, op or table ref`
  throw new ApiError('validation_failed', { message, param })
}

/** Adds the path of the ref to an error. */
function atRef(at: number): (error: unknown) => never {
  return (error) => {
    if (!isNotFound(error)) throw error
    throw new ApiError(error.code, { message: error.message, param: `refs[${at}]` })
  }
}
