/**
 * Runs of evaluations, predictions and scores, by kind. Each is a call, recorded in one durable commit and read like any
 * other.
 *
 * Spec: §2.5 (calls; these routes are additions). Choice: the routes of the public tracing clients.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { requireAccess } from '../../domain/access/permissions.ts'
import type { StoredCall } from '../../domain/calls/call-view.ts'
import {
  EVALUATION_OPS,
  type EvaluationCall,
  type EvaluationCallKind,
  isEvaluationCall,
  isOfKind,
  renderPrediction,
  renderRun,
  renderScore,
  runIdOf,
} from '../../domain/calls/evaluations/evaluation-calls.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import * as WIRE from '../../schemas/calls/evaluation-calls.ts'
import { ProjectPath } from '../../schemas/primitives.ts'
import { projectOf } from '../projects/project-path.ts'
import { deleteTaggedCalls } from './call-tags.ts'
import {
  createEvaluationFinisher,
  createEvaluationReader,
  createEvaluationWriter,
  type EvaluationCallOptions,
  findTraceOfRun,
  findTrial,
  readEvaluationCall,
} from './evaluation-store.ts'

/** One kind: everything in which its routes differ. */
interface CallKind {
  readonly kind: EvaluationCallKind
  readonly path: string
  /** The noun in the OpenAPI document. */
  readonly word: string
  readonly idField: string
  readonly createRequest: z.ZodType
  readonly createResponse: z.ZodType
  readonly readResponse: z.ZodType
  readonly idPath: z.ZodType
  readonly listQuery: z.ZodType
  readonly deleteQuery: z.ZodType
  create(writer: Writer, body: never): Promise<string>
  render(call: EvaluationCall): object
}

type Writer = ReturnType<typeof createEvaluationWriter>
type Ids = Readonly<Record<string, string>>

const CALL_KINDS: readonly CallKind[] = [
  {
    kind: 'evaluation_run',
    path: 'evaluation_runs',
    word: 'EvaluationRun',
    idField: 'evaluation_run_id',
    createRequest: WIRE.RunCreateRequest,
    createResponse: WIRE.RunCreateResponse,
    readResponse: WIRE.EvaluationRun,
    idPath: WIRE.RunPath,
    listQuery: WIRE.RunsQuery,
    deleteQuery: WIRE.RunsDeleteQuery,
    create: (writer, body) => writer.createRun(body),
    render: renderRun,
  },
  {
    kind: 'prediction',
    path: 'predictions',
    word: 'Prediction',
    idField: 'prediction_id',
    createRequest: WIRE.PredictionCreateRequest,
    createResponse: WIRE.PredictionCreateResponse,
    readResponse: WIRE.Prediction,
    idPath: WIRE.PredictionPath,
    listQuery: WIRE.EvaluationCallsQuery,
    deleteQuery: WIRE.PredictionsDeleteQuery,
    create: (writer, body) => writer.createPrediction(body),
    render: renderPrediction,
  },
  {
    kind: 'score',
    path: 'scores',
    word: 'Score',
    idField: 'score_id',
    createRequest: WIRE.ScoreCreateRequest,
    createResponse: WIRE.ScoreCreateResponse,
    readResponse: WIRE.Score,
    idPath: WIRE.ScorePath,
    listQuery: WIRE.EvaluationCallsQuery,
    deleteQuery: WIRE.ScoresDeleteQuery,
    create: (writer, body) => writer.createScore(body),
    render: renderScore,
  },
]

const tags = ['calls']
const config = { body: 'exact' } as const

export async function evaluationCallRoutes(
  app: App,
  options: EvaluationCallOptions,
): Promise<void> {
  for (const kind of CALL_KINDS) {
    addCreate(app, options, kind)
    addList(app, options, kind)
    addRead(app, options, kind)
    addDelete(app, options, kind)
  }
  addFinish(app, options)
}

function addCreate(app: App, options: EvaluationCallOptions, kind: CallKind): void {
  app.post(
    `/v2/:entity/:project/${kind.path}`,
    {
      config,
      schema: {
        tags,
        operationId: `create${kind.word}`,
        summary: `Record one of the ${kind.path} of a project as a call (addition to the spec).`,
        params: ProjectPath,
        body: kind.createRequest,
        response: { 200: kind.createResponse },
      },
    },
    async (request) => {
      const project_id = projectOf(request.params)
      const user = requireAccess(request.principal, 'traces:write', project_id)
      const writer = createEvaluationWriter(options, { project_id, user })
      return { [kind.idField]: await kind.create(writer, request.body as never) }
    },
  )
}

function addList(app: App, options: EvaluationCallOptions, kind: CallKind): void {
  app.get(
    `/v2/:entity/:project/${kind.path}`,
    {
      schema: {
        tags,
        operationId: `list${kind.word}s`,
        summary: `List the ${kind.path} of a project, one JSON object per line (addition to the spec).`,
        params: ProjectPath,
        querystring: kind.listQuery,
        response: { 200: linesResponse('One a line, the oldest first.', kind.readResponse) },
      },
    },
    async (request, reply) => {
      const project_id = projectOf(request.params)
      requireAccess(request.principal, 'traces:read', project_id)
      const query = request.query as z.infer<typeof WIRE.RunsQuery> & { evaluation_run_id?: string }
      const readCalls = createEvaluationReader(options, openReadCaller(request, reply, project_id))
      const { evaluation_run_id: run_id } = query
      const op = EVALUATION_OPS[kind.kind]
      const filter = {
        op_names: [op, `${options.refScheme}:///${project_id}/op/${op}:*`],
        ...(run_id ? { trace_ids: [await findTraceOfRun(options.calls, project_id, run_id)] } : {}),
        ...(query.evaluation_run_ids ? { call_ids: [query.evaluation_run_ids].flat() } : {}),
      }
      const isWanted = (call: StoredCall) =>
        isOfKind({ call, above: null }, kind.kind) &&
        isIn(run_id, runIdOf(call, null)) &&
        isIn(query.evaluations, call.inputs.self) &&
        isIn(query.models, call.inputs.model)
      const { limit = WIRE.EVALUATION_CALLS_LIMIT_MAX, offset = 0 } = query
      async function* lines(): AsyncGenerator<string> {
        let at = 0
        if (limit === 0) return
        for await (const call of readCalls(filter)) {
          if (!isWanted(call)) continue
          if (at >= offset)
            yield `${renderJson(app.naming.toWireNames(kind.render({ call, above: null })))}\n`
          at += 1
          if (at >= offset + limit) return
        }
      }
      return sendLines(reply, lines())
    },
  )
}

function isIn(wanted: string | readonly string[] | undefined, value: unknown): boolean {
  return wanted === undefined || [wanted].flat().includes(String(value))
}

function addRead(app: App, { calls }: EvaluationCallOptions, kind: CallKind): void {
  app.get(
    `/v2/:entity/:project/${kind.path}/:${kind.idField}`,
    {
      schema: {
        tags,
        operationId: `read${kind.word}`,
        summary: `Read one of the ${kind.path} of a project (addition to the spec).`,
        params: kind.idPath,
        response: { 200: kind.readResponse },
      },
    },
    async (request) => {
      const ids = request.params as z.infer<typeof ProjectPath> & Ids
      const project_id = projectOf(ids)
      requireAccess(request.principal, 'traces:read', project_id)
      const name = { project_id, id: ids[kind.idField] ?? '', kind: kind.kind, param: kind.idField }
      return kind.render(await readEvaluationCall(calls, name))
    },
  )
}

function addDelete(app: App, options: EvaluationCallOptions, kind: CallKind): void {
  const { calls, nowUs } = options
  app.delete(
    `/v2/:entity/:project/${kind.path}`,
    {
      schema: {
        tags,
        operationId: `delete${kind.word}s`,
        summary: `Delete ${kind.path} of a project with all of their descendants (addition to the spec).`,
        params: ProjectPath,
        querystring: kind.deleteQuery,
        response: { 200: WIRE.EvaluationDeleteResponse },
      },
    },
    async (request) => {
      const project_id = projectOf(request.params)
      requireAccess(request.principal, 'traces:write', project_id)
      const named = Object.values(request.query as Record<string, string | string[]>).flat()
      const ids: string[] = []
      let num_deleted = 0
      for (const id of new Set(named)) {
        const call = await calls.findCall(project_id, id)
        if (call === null || !isEvaluationCall(call, kind.kind)) continue
        num_deleted += 1
        ids.push(id)
        // Results read the call above a prediction, which would still count it.
        const above = kind.kind === 'prediction' ? await findTrial(calls, call) : null
        if (above !== null) ids.push(above.id)
      }
      if (ids.length === 0) return { num_deleted }
      await deleteTaggedCalls(options, request, { project_id, ids, deleted_at_us: nowUs() })
      return { num_deleted }
    },
  )
}

function addFinish(app: App, options: EvaluationCallOptions): void {
  const finished = { response: { 200: WIRE.EvaluationFinishResponse } }
  const openFinisher = (request: FastifyRequest, reply: FastifyReply, project_id: string) => {
    const user = requireAccess(request.principal, 'traces:write', project_id)
    const caller = openReadCaller(request, reply, project_id)
    return createEvaluationFinisher(options, { project_id, user }, caller)
  }
  app.post(
    '/v2/:entity/:project/predictions/:prediction_id/finish',
    {
      schema: {
        tags,
        operationId: 'finishPrediction',
        summary:
          'Finish a prediction of a run once it has all of its scores (addition to the spec).',
        params: WIRE.PredictionPath,
        ...finished,
      },
    },
    async (request, reply) => {
      const finisher = openFinisher(request, reply, projectOf(request.params))
      await finisher.finishPrediction(request.params.prediction_id)
      return { success: true as const }
    },
  )
  app.post(
    '/v2/:entity/:project/evaluation_runs/:evaluation_run_id/finish',
    {
      config,
      schema: {
        tags,
        operationId: 'finishEvaluationRun',
        summary:
          'Finish a run; its output is the means over its predictions (addition to the spec).',
        params: WIRE.RunPath,
        body: WIRE.RunFinishRequest,
        ...finished,
      },
    },
    async (request, reply) => {
      const finisher = openFinisher(request, reply, projectOf(request.params))
      await finisher.finishRun(request.params.evaluation_run_id, request.body.summary ?? {})
      return { success: true as const }
    },
  )
}
