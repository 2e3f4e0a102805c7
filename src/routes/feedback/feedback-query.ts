/** Queries over stored feedback, and its deletion; additions to the spec. */

import { FEEDBACK_FIELDS } from '../../domain/feedback/feedback-view.ts'
import { parseLossless } from '../../domain/json/json-text.ts'
import { resolveRowQuery } from '../../domain/query/row-query.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import { idsOf, PurgeRequest } from '../../schemas/calls/ids-query.ts'
import { FeedbackQueryResponse } from '../../schemas/feedback/feedback-query.ts'
import { COUNT_FIELD } from '../../schemas/limits.ts'
import { EmptyResponse, type JsonObject } from '../../schemas/primitives.ts'
import { RowQueryRequest } from '../../schemas/query/row-query.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

export async function feedbackQueryRoutes(
  app: App,
  { audit, feedback }: Pick<Stores, 'audit' | 'feedback'>,
): Promise<void> {
  addProjectRead(
    app,
    '/feedback/query',
    {
      tags: ['feedback'],
      operationId: 'queryFeedback',
      summary: 'List feedback that meets a condition (addition to the spec).',
      description: `The fields are ${FEEDBACK_FIELDS.join(', ')}; payload also takes dotted paths.`,
      body: RowQueryRequest,
      response: FeedbackQueryResponse,
    },
    async ({ project_id, ...body }, caller) => {
      const query = resolveRowQuery(body, FEEDBACK_FIELDS)
      const { count, rows } = await feedback.queryFeedback(project_id, query, caller)
      if (query.isCount) return { result: [{ [COUNT_FIELD]: count }] }
      return { result: rows.map((text) => parseLossless(text) as JsonObject) }
    },
  )

  addProjectWrite(
    app,
    '/feedback/purge',
    {
      tags: ['feedback'],
      operationId: 'purgeFeedback',
      summary: 'Delete feedback by its ids (addition to the spec).',
      body: PurgeRequest,
      response: EmptyResponse,
    },
    async ({ project_id, query }, _caller, request) => {
      const ids = idsOf(query)
      await recordBefore(audit, request, { action: 'feedback.delete', project_id, before: { ids } })
      await feedback.purgeFeedback(project_id, ids)
      return {}
    },
  )
}
