/**
 * The page for people, at `/` and at every address that the tracing SDKs print. Its files are public; what it shows,
 * it asks of the API with the key of whoever looks. An addition to the spec.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { type PageFile, readPage } from './page-files.ts'

/** Addresses of views. The first names of a path are an entity and a project. */
const VIEWS = [
  '/',
  '/:entity/:project/weave',
  '/:entity/:project/weave/*',
  '/:entity/:project/r/:kind/*',
] as const

/** A year: the address of a file changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable'

export interface PageRoutesOptions {
  readonly refScheme: string
}

export async function pageRoutes(app: App, { refScheme }: PageRoutesOptions): Promise<void> {
  const page = readPage(refScheme)
  const schema = { hide: true }

  for (const url of VIEWS) {
    app.get(url, { schema }, async (request, reply) => {
      reply.header('content-security-policy', page.policy)
      reply.header('referrer-policy', 'no-referrer')
      reply.header('cache-control', 'no-cache')
      return send(request, reply, page.document)
    })
  }

  app.get(`/assets/${page.version}/*`, { schema }, async (request, reply) => {
    const file = page.files.get((request.params as { '*': string })['*'])
    if (file === undefined) throw new ApiError('unknown_url')
    reply.header('cache-control', FOREVER)
    return send(request, reply, file)
  })
}

function send(request: FastifyRequest, reply: FastifyReply, file: PageFile): Buffer {
  const isGzipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  reply.header('vary', 'accept-encoding')
  reply.header('x-content-type-options', 'nosniff')
  if (isGzipped) reply.header('content-encoding', 'gzip')
  reply.type(file.type)
  return isGzipped ? file.gzipped : file.body
}
