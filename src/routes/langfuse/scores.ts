/**
 * Scores of Langfuse's SDKs, kept as feedback.
 *
 * Spec: none, an addition. Choice: a score that is sent again under its id replaces the stored one, as there.
 */

import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { FEEDBACK_FIELDS } from '../../domain/feedback/feedback-view.ts'
import { type Feedback, resolveFeedback } from '../../domain/feedback/new-feedback.ts'
import { parseLossless } from '../../domain/json/json-text.ts'
import { parseCursor, renderCursor, renderPage } from '../../domain/langfuse/pages.ts'
import {
  renderScoreV2,
  renderScoreV3,
  type ScoreRow,
  scoreQuery,
  toScoreFeedback,
} from '../../domain/langfuse/scores.ts'
import { resolveRowQuery } from '../../domain/query/row-query.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError, ERRORS } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { parseItem } from '../../http/body/parsing.ts'
import { type LangfuseCaller, requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import { newId } from '../../http/new-id.ts'
import {
  IngestionEvent,
  IngestionRequest,
  ScoreBody,
  type ScoreConditions,
  ScorePath,
  ScoresCursorQuery,
  ScoresPageQuery,
  ScoresRequest,
} from '../../schemas/langfuse/score.ts'
import { COUNT_FIELD } from '../../schemas/limits.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

export interface ScoreOptions extends Pick<Stores, 'audit' | 'feedback'>, Pick<Clock, 'nowUs'> {
  readonly refScheme: string
  readonly payloadBytesMax: number
}

// The numbers of metadata are stored as they were sent.
const config = { body: 'exact' } as const

export async function scoreRoutes(app: App, options: ScoreOptions): Promise<void> {
  addCreate(app, options)
  addIngestion(app, options)
  addPagedList(app, options)
  addCursorList(app, options)
  addRead(app, options)
  addDelete(app, options)
}

/** One score, or many: then those that are refused are reported beside the others. */
function addCreate(app: App, options: ScoreOptions): void {
  app.post('/scores', { config, schema: { body: ScoresRequest } }, async (request, reply) => {
    const caller = requireLangfuseCaller(request, reply, 'traces:write')
    const { body } = request
    const sent: readonly unknown[] = Array.isArray(body) ? body : [body]
    const results = await storeScores(sent, caller, options)
    const refused = results.filter((result) => result instanceof ApiError)
    if (!Array.isArray(body)) {
      const [only] = results
      if (only instanceof ApiError) throw only
      return { id: only?.id }
    }
    if (refused.length === 0) return reply.code(202).send({ message: 'Accepted' })
    const errors = refused.map(({ message }) => ({ message }))
    const accepted = results.length - refused.length
    return reply.code(207).send({ accepted, rejected: refused.length, errors })
  })
}

/** The batches of events in which the JavaScript SDK sends scores. */
function addIngestion(app: App, options: ScoreOptions): void {
  const schema = { body: IngestionRequest }
  app.post('/ingestion', { config, schema }, async (request, reply) => {
    const caller = requireLangfuseCaller(request, reply, 'traces:write')
    const events = request.body.batch.map((event) => parseItem(IngestionEvent, event, false))
    const scores = events.filter(({ type }) => type === 'score-create')
    const stored = await storeScores(
      scores.map(({ body }) => body),
      caller,
      options,
    )
    const successes: object[] = []
    const errors: object[] = []
    let at = 0
    for (const { id, type } of events) {
      const result = type === 'score-create' ? stored[at++] : otherEvent(type)
      if (result instanceof ApiError) {
        const { status } = ERRORS[result.code]
        errors.push({ id, status, message: result.message, error: result.code })
      } else successes.push({ id, status: 201 })
    }
    return reply.code(207).send({ successes, errors })
  })
}

function otherEvent(type: string): ApiError {
  const message = `Events of the type ${type} are not taken here, only score-create: send spans by OpenTelemetry.`
  return new ApiError('unsupported_value', { param: 'type', message })
}

/** Stores scores in one commit. @returns for each score what is stored, or why it is not */
async function storeScores(
  sent: readonly unknown[],
  { project_id, principal }: LangfuseCaller,
  { feedback, refScheme, payloadBytesMax, nowUs }: ScoreOptions,
): Promise<readonly (Feedback | ApiError)[]> {
  const scope = { project_id, refScheme, nowUs: nowUs() }
  const items = sent.map((item) => {
    try {
      const score = toScoreFeedback(parseItem(ScoreBody, item, false), scope)
      const { svc_user_id } = principal
      const defaults = { id: newId(), svc_user_id, created_at_us: scope.nowUs }
      return resolveFeedback(score, defaults, payloadBytesMax)
    } catch (error) {
      if (error instanceof ApiError) return error
      throw error
    }
  })
  const good = items.filter((item): item is Feedback => !(item instanceof ApiError))
  const stored = await feedback.createFeedbackBatch(good)
  const results: (Feedback | ApiError)[] = []
  let at = 0
  for (const item of items) {
    const result = item instanceof ApiError ? item : (stored[at++] ?? item)
    const isChanged = result instanceof ApiError && result.code === 'feedback_conflict'
    const mayReplace = isChanged && !(item instanceof ApiError)
    results.push(mayReplace ? await feedback.replaceFeedback(item.id, item) : result)
  }
  return results
}

/** Reads the rows of scores, the newest first. */
export async function listScores(
  { feedback }: ScoreOptions,
  caller: ReadCaller,
  asked: Partial<ScoreConditions>,
  part: { readonly limit: number; readonly offset: number; readonly beforeUs?: number },
): Promise<ScoreRow[]> {
  const { limit, offset, beforeUs = null } = part
  const sort_by = [
    { field: 'payload.timestamp', direction: 'desc' as const },
    { field: 'id', direction: 'desc' as const },
  ]
  const query = scoreQuery(asked, beforeUs)
  const rows = resolveRowQuery({ query, sort_by, limit, offset }, FEEDBACK_FIELDS)
  const found = await feedback.queryFeedback(caller.project_id, rows, caller)
  return found.rows.map((text) => parseLossless(text) as ScoreRow)
}

function addPagedList(app: App, options: ScoreOptions): void {
  const schema = { querystring: ScoresPageQuery }
  app.get('/v2/scores', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { page, limit, ...asked } = request.query
    const count = resolveRowQuery(
      { query: scoreQuery(asked, null), fields: [COUNT_FIELD] },
      FEEDBACK_FIELDS,
    )
    const total = await options.feedback.queryFeedback(reader.project_id, count, reader)
    const part = { limit, offset: (page - 1) * limit }
    const rows = await listScores(options, reader, asked, part)
    return renderPage(rows.map(renderScoreV2), total.count, { page, limit })
  })
}

function addCursorList(app: App, options: ScoreOptions): void {
  const schema = { querystring: ScoresCursorQuery }
  app.get('/v3/scores', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { cursor, limit, ...asked } = request.query
    const { before_us, offset } = parseCursor(cursor, options.nowUs())
    const part = { limit: limit + 1, offset, beforeUs: before_us }
    const rows = await listScores(options, reader, asked, part)
    const next = rows.length > limit ? renderCursor({ before_us, offset: offset + limit }) : null
    return { data: rows.slice(0, limit).map(renderScoreV3), meta: { limit, cursor: next } }
  })
}

async function requireScore(options: ScoreOptions, caller: ReadCaller, scoreId: string) {
  const [row] = await listScores(options, caller, { scoreIds: [scoreId] }, { limit: 1, offset: 0 })
  if (row === undefined) throw new ApiError('feedback_not_found', { param: 'scoreId' })
  return row
}

function addRead(app: App, options: ScoreOptions): void {
  app.get('/v2/scores/:scoreId', { schema: { params: ScorePath } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    return renderScoreV2(await requireScore(options, reader, request.params.scoreId))
  })
}

function addDelete(app: App, options: ScoreOptions): void {
  app.delete('/scores/:scoreId', { schema: { params: ScorePath } }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:write')
    const { scoreId } = request.params
    await requireScore(options, reader, scoreId)
    const before = { ids: [scoreId] }
    await recordBefore(options.audit, request, { action: 'feedback.delete', project_id, before })
    await options.feedback.purgeFeedback(project_id, [scoreId])
    return reply.code(202).send({ message: 'Score deleted' })
  })
}
