/** API keys over HTTP, like `npm run keys` on the machine. Spec: §5; additions to the spec. */
import { ownsProjects, renderKeyRow, resolveNewKey } from '../../domain/access/key-view.ts'
import { type Principal, requireScope } from '../../domain/access/permissions.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { renderList, sendLines } from '../../http/stream/json-lines.ts'
import {
  KeyCreateRequest,
  KeyCreateResponse,
  KeyListQuery,
  KeyListResponse,
  KeyParams,
  KeyResponse,
} from '../../schemas/access/key.ts'
import { listKeyParts, type StoredKey } from '../../store/api/access/keys.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
const url = '/v1/keys'

export async function keyRoutes(app: App, { keys }: Pick<Stores, 'keys'>): Promise<void> {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List the keys of projects that the key may use (addition to the spec).',
        querystring: KeyListQuery,
        response: { 200: KeyListResponse },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'admin')
      const groups = renderKeys(listKeyParts(keys), caller)
      await sendLines(reply, renderList('{"object":"list","data":[', groups), 'application/json')
    },
  )

  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create a key; its secret is returned only once (addition to the spec).',
        body: KeyCreateRequest,
        response: { 200: KeyCreateResponse },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'admin')
      const rights = resolveNewKey(request.body, caller)
      const { id, secret } = await keys.createKey(rights)
      const made = await keys.findKey(id)
      if (made === null) throw new ApiError('key_not_found')
      reply.header('cache-control', 'no-store')
      return { ...renderKeyRow(made), secret }
    },
  )

  app.delete(
    `${url}/:key_id`,
    {
      schema: {
        tags,
        operationId: 'revokeKey',
        summary:
          'Revoke a key, possibly that of the request; it is refused within a second (addition to the spec).',
        params: KeyParams,
        response: { 200: KeyResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const { key_id } = request.params
      const found = await keys.findKey(key_id)
      // A key of other projects reads as missing, so that ids of others cannot be probed.
      const isOwn = found !== null && ownsProjects(caller, found.projects)
      if (!isOwn || !(await keys.revokeKey(key_id))) {
        throw new ApiError('key_not_found', { param: 'key_id' })
      }
      return renderKeyRow((await keys.findKey(key_id)) ?? found)
    },
  )
}

/** Yields the keys that the caller owns as JSON texts, in groups: there may be very many. */
async function* renderKeys(
  parts: AsyncIterable<readonly StoredKey[]>,
  caller: Principal,
): AsyncGenerator<string[]> {
  for await (const part of parts) {
    const shown = part.filter((key) => ownsProjects(caller, key.projects))
    yield shown.map((key) => JSON.stringify(renderKeyRow(key)))
  }
}
