/** Trials of a draft of an evaluator's judge on what people have rated. Additions to the spec. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Principal, requireAccess } from '../../domain/access/permissions.ts'
import { definitionOf } from '../../domain/evaluators/evaluator.ts'
import { refuseField } from '../../errors.ts'
import { estimateTrial, openTrial, runTrial } from '../../evaluators/judge-trial.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import type { Scorers } from '../../inference/scorers/scorers.ts'
import { EvaluatorPath } from '../../schemas/evaluators/evaluator.ts'
import {
  JudgeTrialEstimate,
  JudgeTrialLine,
  JudgeTrialRequest,
} from '../../schemas/evaluators/judge-trial.ts'
import type { Stores } from '../../store/api/stores.ts'
import { type EvaluatorRoutesOptions, requireOwn, requireSpender } from './evaluator-edits.ts'

interface JudgeTrialOptions extends EvaluatorRoutesOptions {
  readonly scorers: Pick<Scorers, 'requireUsable' | 'score' | 'estimate'>
  readonly stores: Pick<Stores, 'annotation' | 'feedback' | 'callsQuery' | 'prices'>
}

const tags = ['evaluators']
const url = '/evaluators/:evaluator_id/trial'

export async function judgeTrialRoutes(app: App, options: JudgeTrialOptions): Promise<void> {
  app.post(
    `${url}/estimate`,
    {
      schema: {
        tags,
        operationId: 'estimateJudgeTrial',
        summary: "Estimate what a trial of a judge's draft would cost (addition to the spec).",
        params: EvaluatorPath,
        body: JudgeTrialRequest,
        response: { 200: JudgeTrialEstimate },
      },
    },
    async (request, reply) => {
      const caller = requireAccess(request.principal, 'traces:read', request.body.project_id)
      const trial = await open(request.params, request.body, caller, { request, reply }, options)
      return estimateTrial(trial, caller, options)
    },
  )

  app.post(
    url,
    {
      schema: {
        tags,
        operationId: 'runJudgeTrial',
        summary:
          "Try a judge's draft on calls that people have rated, beside the current version, one JSON object per line (addition to the spec).",
        params: EvaluatorPath,
        body: JudgeTrialRequest,
        response: {
          200: linesResponse('A scored call a line, then the comparison.', JudgeTrialLine),
        },
      },
    },
    async (request, reply) => {
      const { project_id, scorer } = request.body
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      requireSpender({ scorer }, project_id, caller)
      const trial = await open(request.params, request.body, caller, { request, reply }, options)
      return sendLines(reply, toLines(runTrial(trial, caller, options)))
    },
  )
}

/** @throws ApiError evaluator_not_found; validation_failed for one without a judge of calls, and as createEvaluator */
async function open(
  params: EvaluatorPath,
  body: JudgeTrialRequest,
  caller: Principal,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  options: JudgeTrialOptions,
) {
  const evaluator = await requireOwn(params, body, options)
  const { scorer, target } = definitionOf(evaluator)
  if (scorer.kind !== 'judge' || target !== 'call') {
    refuseField('evaluator_id', 'must be of an evaluator that scores calls by a judge')
  }
  await options.scorers.requireUsable(
    body.scorer,
    { caller, project_id: body.project_id },
    'scorer',
  )
  const reader = openReadCaller(request, reply, body.project_id)
  return openTrial(evaluator, scorer, body, reader, options)
}

async function* toLines(lines: AsyncIterable<JudgeTrialLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`
}
