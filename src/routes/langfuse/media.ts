/**
 * Media that Langfuse's SDKs find in traces, kept as files by their content. Its clients upload and download at addresses
 * that need no key: a token in them stands for the caller, whose rights are checked again. Additions to the spec.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Principal, Scope } from '../../domain/access/permissions.ts'
import { parseObject } from '../../domain/json/json-values.ts'
import {
  type MediaFile,
  mediaContent,
  mediaFileOf,
  mediaIdOf,
  mediaObjectId,
  readMediaFile,
  renderMedia,
} from '../../domain/langfuse/media.ts'
import { renderContentRange, resolveByteRange } from '../../domain/objects/byte-range.ts'
import { requireDigest } from '../../domain/objects/digests.ts'
import { newObjectOf } from '../../domain/objects/object-kinds.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError, bodyTooLarge } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { hideRoutes } from '../../http/document/openapi.ts'
import { requireLangfuseCaller, useLangfuseErrors } from '../../http/langfuse-scope.ts'
import { readPayer } from '../../inference/scorers/payer.ts'
import {
  MediaPath,
  MediaReport,
  MediaTokenPath,
  MediaUploadRequest,
} from '../../schemas/langfuse/media.ts'
import { MEDIA_TICKET_PREFIX } from '../../store/api/calls/export-tickets.ts'
import type { StoredFile } from '../../store/api/objects/tables.ts'
import type { Stores } from '../../store/api/stores.ts'

/** Limit: how long an address is valid. */
const TICKET_MS = 10 * 60_000
const TOKEN_BYTES = 32
const BASE = '/api/public/media'

export interface MediaOptions
  extends Pick<Stores, 'exportTickets' | 'files' | 'keys' | 'objects' | 'people'>,
    Pick<Clock, 'nowUs'> {
  /** Limit of a media record. */
  readonly fileBytesMax: number
}

/** What a token allows. */
interface TicketContent {
  readonly principal: Principal
  readonly project_id: string
  readonly scope: Scope
  readonly mediaId: string
  readonly file: MediaFile
}

/** Must be registered in a scope with Langfuse's credentials. */
export async function mediaRoutes(app: App, options: MediaOptions): Promise<void> {
  addUploadAddress(app, options)
  addReport(app, options)
  addRead(app, options)
}

function addUploadAddress(app: App, options: MediaOptions): void {
  const { fileBytesMax } = options
  app.post('/media', { schema: { body: MediaUploadRequest } }, async (request, reply) => {
    const caller = requireLangfuseCaller(request, reply, 'traces:write')
    const { project_id, principal } = caller
    const { sha256Hash, contentLength } = request.body
    if (contentLength > fileBytesMax) throw bodyTooLarge(fileBytesMax)
    const mediaId = mediaIdOf(sha256Hash)
    const file = mediaFileOf(request.body)
    const size_bytes = await findSize(project_id, file.digest, options)
    if (size_bytes !== null) {
      await nameMedia(caller, { mediaId, file, size_bytes }, options)
      return { mediaId, uploadUrl: null }
    }
    const content = { principal, project_id, scope: 'traces:write', mediaId, file } as const
    const { token } = await issueTicket(content, options)
    return { mediaId, uploadUrl: addressOf(request, `uploads/${token}`) }
  })
}

/** Returns the bytes of a file; null also when they are gone from the disk, so that an upload restores them. */
async function findSize(
  project_id: string,
  digest: string,
  { files }: MediaOptions,
): Promise<number | null> {
  try {
    const stored = await files.findFile(project_id, digest)
    if (stored === null) return null
    if (!Buffer.isBuffer(stored.content)) stored.content.destroy()
    return stored.size_bytes
  } catch (error) {
    if (error instanceof ApiError && error.code === 'file_not_found') return null
    throw error
  }
}

/** The SDKs report how the upload ended; what has been stored says so already. */
function addReport(app: App, { objects }: MediaOptions): void {
  const schema = { params: MediaPath, body: MediaReport }
  app.patch('/media/:mediaId', { schema }, async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:write')
    const { mediaId } = request.params
    const found = await objects.findObject(project_id, mediaObjectId(mediaId), 'latest')
    const isStored = request.body.uploadHttpStatus < 300
    if (isStored && found === null) throw mediaNotFound()
    return {}
  })
}

function addRead(app: App, options: MediaOptions): void {
  const { objects } = options
  app.get('/media/:mediaId', { schema: { params: MediaPath } }, async (request, reply) => {
    const { project_id, principal } = requireLangfuseCaller(request, reply, 'traces:read')
    const { mediaId } = request.params
    const version = await objects.findObject(project_id, mediaObjectId(mediaId), 'latest')
    const json = version && (await objects.findContent(project_id, version.digest))
    const file = version && readMediaFile(version, parseObject(json ?? '') ?? {})
    if (version === null || file === null) throw mediaNotFound()
    const content = { principal, project_id, scope: 'traces:read', mediaId, file } as const
    const { token, expiresUs } = await issueTicket(content, options)
    reply.header('cache-control', 'no-store')
    const url = addressOf(request, `downloads/${token}`)
    return renderMedia(mediaId, file, version, { url, expiresUs })
  })
}

/** Must be registered in a scope without authentication: the token in the URL replaces the key that requested it. */
export async function mediaFileRoutes(app: App, options: MediaOptions): Promise<void> {
  hideRoutes(app)
  useLangfuseErrors(app)
  app.removeAllContentTypeParsers()
  // Bytes of any media type.
  app.addContentTypeParser('*', async (_request: unknown, body: Readable) => body)
  addUpload(app, options)
  addDownload(app, options)
}

function addUpload(app: App, options: MediaOptions): void {
  const { files, exportTickets, fileBytesMax, nowUs } = options
  const config = { bodyBytesMax: fileBytesMax }
  const schema = { params: MediaTokenPath }
  app.put(`${BASE}/uploads/:token`, { config, schema }, async (request, reply) => {
    const { token } = request.params
    const ticket = await findTicket(token, 'traces:write', options)
    const { content_length, digest } = ticket.file
    const body = (request.body ?? []) as AsyncIterable<Buffer>
    const received = await files.receiveFile(boundedBytes(body, content_length))
    try {
      requireDigest(digest, received.digest, 'sha256Hash')
      await received.keep(ticket.project_id)
      await nameMedia(ticket, { ...ticket, size_bytes: received.size_bytes }, options)
    } finally {
      await received.discard()
    }
    await exportTickets.redeemTicket(hashOf(token), nowUs())
    return reply.send('')
  })
}

/**
 * Always as bytes to be saved, so that no browser runs what a client has uploaded. Players seek by ranges, for which the digest
 * is the ETag.
 */
function addDownload(app: App, options: MediaOptions): void {
  const schema = { params: MediaTokenPath }
  app.get(`${BASE}/downloads/:token`, { schema }, async (request, reply) => {
    const { headers, method, params } = request
    const { project_id, file: named } = await findTicket(params.token, 'traces:read', options)
    const etag = `"${named.digest}"`
    const file = await options.files.findFile(project_id, named.digest, (size_bytes) =>
      method === 'GET' ? resolveByteRange(headers, { etag, size_bytes }) : null,
    )
    if (file === null) throw new ApiError('file_not_found')
    const { range, size_bytes } = file
    if (range !== null)
      reply.code(206).header('content-range', renderContentRange(range, size_bytes))
    return reply
      .type('application/octet-stream')
      .header('accept-ranges', 'bytes')
      .header('etag', etag)
      .header('content-disposition', 'attachment')
      .header('cache-control', 'no-store')
      .header('content-length', range === null ? size_bytes : range.until - range.from)
      .send(file.content)
  })
}

/**
 * Stores the object by which a media record is found; the same again changes nothing. Its length is that of the bytes, whatever
 * was announced.
 */
async function nameMedia(
  { project_id, principal }: Pick<TicketContent, 'project_id' | 'principal'>,
  {
    mediaId,
    file,
    size_bytes,
  }: Pick<TicketContent, 'mediaId' | 'file'> & Pick<StoredFile, 'size_bytes'>,
  { objects, nowUs }: MediaOptions,
): Promise<void> {
  const { svc_user_id } = principal
  const object_id = mediaObjectId(mediaId)
  const named = { project_id, object_id, svc_user_id, created_at_us: nowUs() }
  const content = mediaContent({ ...file, content_length: size_bytes })
  await objects.createObject(newObjectOf(content, named))
}

async function issueTicket(content: TicketContent, { exportTickets, nowUs }: MediaOptions) {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const ticket = {
    token_hash: hashOf(token),
    key_id: MEDIA_TICKET_PREFIX + content.principal.keyId,
    ticket_json: JSON.stringify(content),
    expires_at_us: nowUs() + TICKET_MS * 1000,
  }
  await exportTickets.issueTicket(ticket, nowUs())
  return { token, expiresUs: ticket.expires_at_us }
}

/**
 * Returns what a token allows.
 *
 * @throws ApiError export_not_found, also when its key was revoked or has lost the right
 */
async function findTicket(
  token: string,
  scope: Scope,
  { exportTickets, keys, people, nowUs }: MediaOptions,
): Promise<TicketContent> {
  const ticket = await exportTickets.findTicket(hashOf(token), nowUs())
  const content = ticket && (JSON.parse(ticket.ticket_json) as TicketContent)
  if (content?.scope !== scope) throw new ApiError('export_not_found')
  const { principal, project_id } = content
  const needs = { project_id, scopes: [scope] }
  const holder = await readPayer(principal, needs, { stores: { keys, people }, nowUs })
  if (typeof holder === 'string') throw new ApiError('export_not_found')
  return content
}

/**
 * Tokens are found by their hash: the time of a lookup reveals nothing about them. The prefix keeps them apart from those of
 * exports, which the same table holds.
 */
function hashOf(token: string): string {
  return createHash('sha256').update(`${MEDIA_TICKET_PREFIX}${token}`).digest('hex')
}

async function* boundedBytes(source: AsyncIterable<Buffer>, bytesMax: number) {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > bytesMax) throw bodyTooLarge(bytesMax)
    yield chunk
  }
}

/**
 * Returns an address on this server, as its client has reached it; behind a proxy that ends TLS with its scheme. A client that
 * sends another one gets an address that is no use to it.
 */
function addressOf({ headers, host, protocol }: FastifyRequest, path: string): string {
  const isSecure = headers['x-forwarded-proto'] === 'https'
  return `${isSecure ? 'https' : protocol}://${host}${BASE}/${path}`
}

function mediaNotFound(): ApiError {
  return new ApiError('file_not_found', { message: 'There is no such media record.' })
}
