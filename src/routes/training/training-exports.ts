/** Exports of training data in the formats of other trainers. An addition to the spec. */
import { renderExportLines } from '../../domain/training/traffic/export-lines.ts'
import type { BuiltGroup } from '../../domain/training/traffic/trajectory-groups.ts'
import type { App } from '../../http/app-type.ts'
import { fileResponse } from '../../http/document/responses.ts'
import { JSON_LINES, sendLines } from '../../http/stream/json-lines.ts'
import {
  type TrainingExportRequest as ExportRequest,
  TrainingExportRequest,
} from '../../schemas/training/training-export.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { readTrajectories, type TrajectorySourceOptions } from './trajectory-source.ts'

type TrainingExportOptions = TrajectorySourceOptions & Pick<Stores, 'audit'>

export async function trainingExportRoutes(
  app: App,
  { audit, ...options }: TrainingExportOptions,
): Promise<void> {
  app.post(
    '/v1/preview/training-data/export',
    {
      schema: {
        tags: ['preview'],
        operationId: 'exportTrainingData',
        summary:
          'Export recorded chats and their rewards for other trainers (addition to the spec).',
        body: TrainingExportRequest,
        response: { 200: fileResponse('The lines of the format.', [JSON_LINES]) },
      },
    },
    async (request, reply) => {
      const { project_id, format, part } = request.body
      const from = { request, reply, isTrainableOnly: false }
      const { training, heldOut, stats } = await readTrajectories(request.body, from, options)
      const after = { format, part, ...stats }
      await recordBefore(audit, request, { action: 'training_data.export', project_id, after })
      reply
        .header('content-disposition', `attachment; filename="${format}.jsonl"`)
        .header('cache-control', 'no-store')
      const groups = part === 'training' ? training : heldOut
      return sendLines(reply, renderGroups(groups, request.body))
    },
  )
}

/** Yields the lines of one group at a time, in turns of the event loop. */
async function* renderGroups(
  groups: readonly BuiltGroup[],
  { format, reward_min }: ExportRequest,
): AsyncGenerator<string> {
  const rules = { format, rewardMin: reward_min ?? null }
  for (const group of groups) {
    const lines = renderExportLines(group, rules)
    if (lines.length > 0) yield lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }
}
