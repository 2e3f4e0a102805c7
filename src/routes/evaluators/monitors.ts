/** Monitors that the SDKs publish, as evaluators: one for each of their scorers. Additions to the spec. */
import { z } from 'zod'
import { requireAccess } from '../../domain/access/permissions.ts'
import { type Evaluator, toPayer } from '../../domain/evaluators/evaluator.ts'
import { parseLossless, renderJson } from '../../domain/json/json-text.ts'
import { refuseField } from '../../errors.ts'
import { readScorers } from '../../evaluations/plan.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { newId } from '../../http/new-id.ts'
import { addProjectWrite } from '../../http/project-routes.ts'
import {
  EvaluatorDefinition,
  EvaluatorListResponse,
  MonitorRequest,
} from '../../schemas/evaluators/evaluator.ts'
import type { ServerEvaluations } from '../evaluations/server-evaluations.ts'
import { type EvaluatorRoutesOptions, requireUsable, storeEdit, view } from './evaluator-edits.ts'

interface MonitorRoutesOptions extends EvaluatorRoutesOptions {
  readonly evaluations: Pick<ServerEvaluations, 'readRef' | 'pinRef' | 'scorers'>
}

/** The fields of a Monitor of the SDKs that decide what is scored. */
const Monitor = z.object({
  _class_name: z.literal('Monitor'),
  name: z.string().min(1),
  scorers: z.array(z.string()).min(1),
  op_names: z.array(z.string().refine((name) => name !== 'weave.genai.turn_ended')).nullish(),
  query: z.unknown(),
  sampling_rate: z.number().nullish(),
  active: z.boolean().nullish(),
  scorer_debounce_config: z
    .object({
      aggregation_field: z.enum(['trace_id', 'thread_id']),
      aggregation_method: z.literal('last_message').nullish(),
      timeout_seconds: z.number(),
    })
    .nullish(),
})
type Monitor = z.infer<typeof Monitor>

export async function monitorRoutes(app: App, options: MonitorRoutesOptions): Promise<void> {
  addProjectWrite(
    app,
    '/evaluators/from_monitor',
    {
      tags: ['evaluators'],
      operationId: 'runMonitor',
      summary:
        'Run a published monitor: make or edit an evaluator for each of its scorers (addition to the spec).',
      body: MonitorRequest,
      response: EvaluatorListResponse,
    },
    async ({ project_id, monitor_ref }, caller, request) => {
      const { evaluators, evaluations, callFeed, nowUs } = options
      const reader = requireAccess(request.principal, 'traces:read', project_id)
      const monitor = requireMonitor(await evaluations.readRef(monitor_ref, reader))
      const asker = { caller, project_id }
      const scorers = await readScorers(monitor.scorers, asker, evaluations, 'monitor_ref')
      const known = await evaluators.listEvaluators(project_id)
      const made: Awaited<ReturnType<typeof view>>[] = []
      for (const { name: scorerName, ref, scorer } of scorers) {
        const definition = toDefinition(monitor, scorer)
        await requireUsable(definition, project_id, caller, options)
        const name = `${monitor.name}.${scorerName}`.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 128)
        const state = monitor.active === false ? 'paused' : 'active'
        const definition_json = JSON.stringify(definition)
        const principal_json = JSON.stringify(toPayer(caller, project_id))
        const edited = { definition_json, principal_json, state, ref, monitor_ref } as const
        const found = known.find((one) => one.name === name)
        if (found !== undefined) {
          made.push(await storeEdit({ id: found.id, ...edited }, request, caller, options))
          continue
        }
        const now = nowUs()
        const evaluator: Evaluator = {
          ...edited,
          id: newId(),
          project_id,
          name,
          version: 1,
          from_position: await callFeed.findEnd(),
          failures: 0,
          retry_at_us: 0,
          last_error: null,
          backfill_json: null,
          created_at_us: now,
          updated_at_us: now,
        }
        await evaluators.createEvaluator(evaluator, originOf(request, caller))
        made.push(await view(evaluator, options))
      }
      return { evaluators: made }
    },
  )
}

function requireMonitor(value: unknown): Monitor {
  const parsed = Monitor.safeParse(parseLossless(renderJson(value ?? null)))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  refuseField(
    'monitor_ref',
    `must name a Monitor of calls with scorers as refs: ${issue?.path.join('.')} ${issue?.message}`,
  )
}

function toDefinition(monitor: Monitor, scorer: EvaluatorDefinition['scorer']) {
  const { op_names, query, sampling_rate, scorer_debounce_config: rests } = monitor
  const isTrace = rests?.aggregation_field === 'trace_id'
  const parsed = EvaluatorDefinition.safeParse({
    filter: op_names?.length ? { op_names } : null,
    query: toQuery(query),
    sampling: sampling_rate ?? 1,
    target: rests ? (isTrace ? 'trace' : 'conversation') : 'call',
    ...(rests ? { rest_seconds: Math.max(1, Math.ceil(rests.timeout_seconds)) } : {}),
    scorer,
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  refuseField('monitor_ref', `has a ${issue?.path.join('.')} that ${issue?.message}`)
}

/** The SDK publishes a query as an object with marks, and its expression under either name. */
function toQuery(query: unknown): object | null {
  if (typeof query !== 'object' || query === null) return null
  const { $expr, expr_ = $expr } = query as { $expr?: unknown; expr_?: unknown }
  return expr_ === undefined ? null : { $expr: expr_ }
}
