/** Comparison of the two arms of an alias. An addition to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { callRef } from '../../domain/calls/call-ref.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { createArmSums } from '../../domain/models/alias-arms.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { AliasArmsQuery, AliasArmsResponse, AliasPath } from '../../schemas/models/served-alias.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { Stores } from '../../store/api/stores.ts'

export interface AliasArmsOptions
  extends Pick<Stores, 'servedAliases' | 'callsQuery' | 'feedback' | 'prices'> {
  /** Scheme of the refs by which feedback is found. */
  readonly refScheme: string
}

/** Limit: calls that are read, the newest first. */
const CALLS_MAX = 10_000
const COLUMNS = ['attributes', 'summary', 'exception', 'ended_at', 'thread_id', 'end_user_id']

export async function aliasArmsRoutes(
  app: App,
  { servedAliases, callsQuery, feedback, prices, refScheme }: AliasArmsOptions,
): Promise<void> {
  app.get(
    '/v1/preview/aliases/:name/arms',
    {
      schema: {
        tags: ['preview'],
        operationId: 'compareAliasArms',
        summary:
          'Compare the target and the candidate of a name by their calls and scores (addition to the spec).',
        params: AliasPath,
        querystring: AliasArmsQuery,
        response: { 200: AliasArmsResponse },
      },
    },
    async (request, reply) => {
      const { project_id, since } = request.query
      const { name } = request.params
      // The scope that the routes around require may be one for another project.
      requireAccess(request.principal, 'training', project_id)
      const { projects } = requireAccess(request.principal, 'traces:read', project_id)
      const alias = await servedAliases.findAlias({ project_id, name })
      if (alias === null) throw new ApiError('alias_not_found', { param: 'name' })
      const from = since ?? renderTimestamp(alias.updated_at_us)
      const listed = {
        project_id,
        query: conditionOn(name, from),
        // One more shows that there are more.
        limit: CALLS_MAX + 1,
        columns: COLUMNS,
      }
      const order = [{ field: 'started_at', direction: 'desc' as const }]
      const selection = resolveCallsSelection(
        { ...listed, sort_by: order },
        { refScheme, projects },
      )
      const caller = openReadCaller(request, reply, project_id)
      const table = layerPrices(await prices.listPrices(project_id))
      const sums = createArmSums()
      let count = 0
      for await (const page of callsQuery.pages(selection, resolveCallsShape(listed), caller)) {
        const refs = page.map(({ call }) => callRef(refScheme, project_id, call.id))
        const about = await feedback.listAbout(refs, caller)
        for (const [index, { call }] of page.slice(0, CALLS_MAX - count).entries()) {
          sums.add({ call, table, feedback: about[index] ?? [] })
        }
        count += page.length
      }
      return { since: from, is_complete: count <= CALLS_MAX, ...sums.result() }
    },
  )
}

function conditionOn(alias: string, since: string) {
  const equal = { $eq: [{ $getField: 'attributes.alias' }, { $literal: alias }] }
  const late = { $gte: [{ $getField: 'started_at' }, { $literal: since }] }
  return { $expr: { $and: [equal, late] } }
}
