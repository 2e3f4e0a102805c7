/** Backfills of evaluators: what they are expected to cost, their start and their states. Additions to the spec. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toUsd } from '../../domain/access/budgets.ts'
import { requireAccess } from '../../domain/access/permissions.ts'
import {
  type Backfill,
  backfillOf,
  definitionOf,
  type Evaluator,
} from '../../domain/evaluators/evaluator.ts'
import { ApiError } from '../../errors.ts'
import { countSubjects, readSample } from '../../evaluators/backfill-round.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import type { Scorers } from '../../inference/scorers/scorers.ts'
import {
  BackfillEstimateResponse,
  BackfillRequest,
  BackfillStateRequest,
  EvaluatorPath,
  EvaluatorResponse,
} from '../../schemas/evaluators/evaluator.ts'
import { timestampUs } from '../../schemas/timestamp.ts'
import type { Stores } from '../../store/api/stores.ts'
import { type EvaluatorRoutesOptions, requireOwn, requireSpender, view } from './evaluator-edits.ts'

interface BackfillRoutesOptions
  extends EvaluatorRoutesOptions,
    Pick<Stores, 'callsQuery' | 'prices'> {
  readonly scorers: Pick<Scorers, 'requireUsable' | 'estimate'>
}

const tags = ['evaluators']
const url = '/evaluators/:evaluator_id/backfill'

export async function backfillRoutes(app: App, options: BackfillRoutesOptions): Promise<void> {
  app.post(
    `${url}/estimate`,
    {
      schema: {
        tags,
        operationId: 'estimateBackfill',
        summary:
          'Estimate how many old calls an evaluator would score, and what that would cost (addition to the spec).',
        params: EvaluatorPath,
        body: BackfillRequest,
        response: { 200: BackfillEstimateResponse },
      },
    },
    async (request, reply) => {
      requireAccess(request.principal, 'traces:read', request.body.project_id)
      const evaluator = await requireOwn(request.params, request.body, options)
      const window = toWindow(request.body, options.nowUs())
      return estimate(evaluator, window, { request, reply }, options)
    },
  )

  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'startBackfill',
        summary:
          'Score old calls, those that have no result of this version (addition to the spec).',
        params: EvaluatorPath,
        body: BackfillRequest,
        response: { 200: EvaluatorResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      const evaluator = await requireOwn(request.params, request.body, options)
      requireSpender(definitionOf(evaluator), project_id, caller)
      if (backfillOf(evaluator)?.state === 'running') throw conflict('is running already')
      const window = toWindow(request.body, options.nowUs())
      const { sampled } = await estimate(evaluator, window, { request, reply }, options)
      const begun = { state: 'running', expected: sampled, queued: 0, after: null } as const
      return storeState(evaluator, { ...window, ...begun }, options)
    },
  )

  app.put(
    url,
    {
      schema: {
        tags,
        operationId: 'updateBackfill',
        summary: 'Pause, continue or cancel a backfill (addition to the spec).',
        params: EvaluatorPath,
        body: BackfillStateRequest,
        response: { 200: EvaluatorResponse },
      },
    },
    async (request) => {
      const { project_id, state } = request.body
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      const evaluator = await requireOwn(request.params, { project_id }, options)
      if (state === 'running') requireSpender(definitionOf(evaluator), project_id, caller)
      const backfill = backfillOf(evaluator)
      if (backfill === null || backfill.state === 'done') throw conflict('has ended')
      const next = state === 'cancelled' ? 'done' : state
      const stored = await storeState(evaluator, { ...backfill, state: next }, options)
      if (state !== 'cancelled') return stored
      await options.evaluators.dropBackfill(evaluator.id)
      return view(await requireOwn(request.params, { project_id }, options), options)
    },
  )
}

type Window = Pick<Backfill, 'from_us' | 'until_us'>

function toWindow({ from, until }: BackfillRequest, nowUs: number): Window {
  return {
    from_us: from ? timestampUs(from) : null,
    until_us: until ? timestampUs(until) : nowUs,
  }
}

function conflict(what: string): ApiError {
  return new ApiError('backfill_conflict', { message: `The backfill ${what}.` })
}

/** @throws ApiError backfill_conflict when it has moved meanwhile */
async function storeState(evaluator: Evaluator, next: Backfill, options: BackfillRoutesOptions) {
  const { evaluators, nowUs } = options
  const { id, backfill_json: expected } = evaluator
  const states = { expected, next: JSON.stringify(next) }
  if (!(await evaluators.queueBackfill(id, states, [], nowUs())))
    throw conflict('has moved; try again')
  return view({ ...evaluator, backfill_json: states.next }, options)
}

async function estimate(
  evaluator: Evaluator,
  window: Window,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  options: BackfillRoutesOptions,
): Promise<BackfillEstimateResponse> {
  const { callsQuery, prices, evaluators, refScheme, scorers, nowUs } = options
  const { project_id } = evaluator
  const { scorer, sampling } = definitionOf(evaluator)
  const reading = { stores: { callsQuery, prices }, refScheme }
  const caller = openReadCaller(request, reply, project_id)
  const calls = await countSubjects(evaluator, window, caller, reading)
  const sampled = Math.round(calls * sampling)
  if (scorer.kind !== 'judge') return { calls, sampled, cost_usd: 0, basis: 'none' }
  const { scored, spent_nanos } = await evaluators.countWork(evaluator.id, nowUs())
  if (spent_nanos > 0 && scored > 0) {
    return { calls, sampled, cost_usd: (toUsd(spent_nanos) / scored) * sampled, basis: 'history' }
  }
  const subjects = await readSample(evaluator, window, caller, reading)
  const payer = requireAccess(request.principal, 'traces:read', project_id)
  const mean = await scorers.estimate(scorer, subjects, { project_id, caller: payer })
  return { calls, sampled, cost_usd: mean === null ? null : mean * sampled, basis: 'prompts' }
}
