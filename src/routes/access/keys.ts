/** API keys over HTTP, like `npm run keys` on the machine. Spec: §5; additions to the spec. */
import {
  ownsProjects,
  renderKeyRow,
  resolveKeyUpdate,
  resolveNewKey,
} from '../../domain/access/key-view.ts'
import { type Principal, requireScope } from '../../domain/access/permissions.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { renderList, sendLines } from '../../http/stream/json-lines.ts'
import {
  KeyCreateRequest,
  KeyCreateResponse,
  KeyListQuery,
  KeyListResponse,
  KeyParams,
  KeyResponse,
  KeyRotateRequest,
  KeyUpdateRequest,
} from '../../schemas/access/key.ts'
import { type KeyStore, listKeyParts, type StoredKey } from '../../store/api/access/keys.ts'
import type { Stores } from '../../store/api/stores.ts'

const tags = ['server']
const url = '/v1/keys'

interface KeyRoutesOptions extends Pick<Stores, 'keys'>, Pick<Clock, 'nowUs'> {}

export async function keyRoutes(app: App, options: KeyRoutesOptions): Promise<void> {
  const { keys } = options
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
      const { id, secret } = await keys.createKey(rights, originOf(request, caller))
      reply.header('cache-control', 'no-store')
      return { ...renderKeyRow(await requireOwn(keys, id, caller)), secret }
    },
  )

  addChanges(app, options)
}

function addChanges(app: App, { keys, nowUs }: KeyRoutesOptions): void {
  app.patch(
    `${url}/:key_id`,
    {
      schema: {
        tags,
        operationId: 'updateKey',
        summary:
          'Change what a key may do; its secret stays. It applies within a second (addition to the spec).',
        params: KeyParams,
        body: KeyUpdateRequest,
        response: { 200: KeyResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'admin')
      const id = request.params.key_id
      const settings = resolveKeyUpdate(request.body, await requireOwn(keys, id, caller), caller)
      const by = originOf(request, caller)
      if (!(await keys.updateKey({ id, settings }, by))) throw notFound()
      return renderKeyRow(await requireOwn(keys, id, caller))
    },
  )

  app.post(
    `${url}/:key_id/rotate`,
    {
      schema: {
        tags,
        operationId: 'rotateKey',
        summary:
          'Replace the secret of a key; the last one is accepted for a time (addition to the spec).',
        params: KeyParams,
        body: KeyRotateRequest,
        response: { 200: KeyCreateResponse },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'admin')
      const { id } = await requireOwn(keys, request.params.key_id, caller)
      const previous_expires_at_us = nowUs() + request.body.overlap_seconds * US_PER_S
      const by = originOf(request, caller)
      const secret = await keys.rotateKey({ id, previous_expires_at_us }, by)
      if (secret === null) throw notFound()
      reply.header('cache-control', 'no-store')
      return { ...renderKeyRow(await requireOwn(keys, id, caller)), secret }
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
      const found = await requireOwn(keys, request.params.key_id, caller)
      if (!(await keys.revokeKey(found.id, originOf(request, caller)))) throw notFound()
      return renderKeyRow((await keys.findKey(found.id)) ?? found)
    },
  )
}

const US_PER_S = 1_000_000

/** A key of other projects reads as missing, so that ids of others cannot be probed. @throws ApiError key_not_found */
async function requireOwn(keys: KeyStore, id: string, caller: Principal): Promise<StoredKey> {
  const found = await keys.findKey(id)
  if (found === null || !ownsProjects(caller, found.projects)) throw notFound()
  return found
}

function notFound(): ApiError {
  return new ApiError('key_not_found', { param: 'key_id' })
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
