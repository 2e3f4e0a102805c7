/** Redirects of the addresses that Langfuse's SDKs print to those of the page. Additions to the spec. */
import type { App } from '../../http/app-type.ts'
import { pathTo } from '../../page/shell/page-route.ts'

interface LinkParams {
  readonly entity: string
  readonly project: string
  readonly id: string
}

/** The page asks for a key itself, so that these are public. */
export async function pageLinkRoutes(app: App): Promise<void> {
  const base = '/project/:entity/:project'
  const schema = { hide: true }
  for (const [url, view] of [
    [`${base}/traces/:id`, 'traces'],
    [`${base}/datasets/:dataset/runs/:id`, 'evaluations'],
  ] as const) {
    app.get(url, { schema }, async (request, reply) => {
      const { entity, project, id } = request.params as LinkParams
      return reply.redirect(pathTo(`${entity}/${project}`, view, id))
    })
  }
  app.get(`${base}/experiments/results`, { schema }, async (request, reply) => {
    const { entity, project } = request.params as LinkParams
    const { baseline } = request.query as { readonly baseline?: string | readonly string[] }
    const run = typeof baseline === 'string' ? baseline : null
    return reply.redirect(pathTo(`${entity}/${project}`, 'evaluations', run))
  })
}
