/**
 * The web page, at `/` and at every address that the tracing SDKs print. Its files are public; its data comes
 * from the API with the key of the signed-in user. An addition to the spec.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import { takesGzip } from '../../http/accept-encoding.ts'
import type { App } from '../../http/app-type.ts'
import { parsePageRoute, parseServerView } from '../../page/shell/page-route.ts'
import { type Page, type PageFile, readPage } from './page-files.ts'

/** Addresses of views. The first names of a path are an entity and a project. */
const VIEWS = [
  '/',
  '/account',
  '/keys',
  '/people',
  '/budgets',
  '/audit',
  '/models',
  '/:entity/:project/weave',
  '/:entity/:project/weave/*',
  '/:entity/:project/r/:kind/*',
] as const

/** A year: the address of a file changes with its content. */
const FOREVER = 'public, max-age=31536000, immutable'

interface PageRoutesOptions {
  readonly refScheme: string
}

export async function pageRoutes(app: App, { refScheme }: PageRoutesOptions): Promise<void> {
  const schema = { hide: true }
  let page: Page | null = null
  const open = (): Page => {
    page ??= readPage(refScheme)
    return page
  }

  for (const url of VIEWS) {
    app.get(url, { schema }, async (request, reply) => {
      const { findDocument, policy } = open()
      const [path = ''] = request.url.split('?')
      const view =
        parsePageRoute(path)?.view ?? (parseServerView(path) === null ? 'projects' : 'server')
      reply.header('content-security-policy', policy)
      reply.header('referrer-policy', 'no-referrer')
      reply.header('cache-control', 'no-cache')
      return send(request, reply, findDocument(view))
    })
  }

  app.get('/assets/:version/*', { schema }, async (request, reply) => {
    const { version, '*': path } = request.params as { version: string; '*': string }
    const file = version === open().version ? open().findFile(path) : undefined
    if (file === undefined) throw new ApiError('unknown_url')
    reply.header('cache-control', FOREVER)
    return send(request, reply, file)
  })
}

function send(request: FastifyRequest, reply: FastifyReply, file: PageFile): Buffer {
  const isGzipped = takesGzip(request)
  reply.header('vary', 'accept-encoding')
  if (isGzipped) reply.header('content-encoding', 'gzip')
  reply.type(file.type)
  return isGzipped ? file.gzipped : file.body
}
