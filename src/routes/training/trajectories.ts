/** Builds trajectory groups (§2.12) from recorded calls. An addition to the spec. */
import type { App } from '../../http/app-type.ts'
import {
  TrajectoriesFromCallsRequest,
  TrajectoriesFromCallsResponse,
} from '../../schemas/training/trajectory-from-calls.ts'
import { readTrajectories, type TrajectorySourceOptions } from './trajectory-source.ts'

export async function trajectoryRoutes(app: App, options: TrajectorySourceOptions): Promise<void> {
  app.post(
    '/v1/preview/trajectory-groups/from-calls',
    {
      schema: {
        tags: ['preview'],
        operationId: 'createTrajectoryGroups',
        summary:
          'Build trajectory groups from recorded chats and their feedback (addition to the spec).',
        body: TrajectoriesFromCallsRequest,
        response: { 200: TrajectoriesFromCallsResponse },
      },
    },
    async (request, reply) => {
      const { trainable_only: isTrainableOnly, part } = request.body
      const from = { request, reply, isTrainableOnly }
      const { training, heldOut, stats } = await readTrajectories(request.body, from, options)
      const groups = part === 'training' ? training : heldOut
      return { trajectory_groups: groups.map((group) => ({ ...group })), stats }
    },
  )
}
