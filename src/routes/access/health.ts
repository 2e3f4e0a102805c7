/** Liveness and readiness, for probes. No credentials, no secrets. */
import { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import type { StoreHealth } from '../../store/api/health.ts'

const Count = z.int().min(0)

interface HealthRoutesOptions {
  readonly checkStore: StoreHealth['checkStore']
}

const Status = z.object({ status: z.literal('ok').describe('Always `ok`.') })
const Readiness = Status.extend({
  missing: z
    .object({
      files: Count.describe('Uploaded files; uploading one again restores it.'),
      training_payloads: Count.describe('Bodies of training jobs.'),
      artifacts: Count.describe('Weights of checkpoints.'),
    })
    .describe(
      'Files that the database names and that were missing from the data directory at the start.',
    ),
})

export async function healthRoutes(app: App, { checkStore }: HealthRoutesOptions): Promise<void> {
  const documented = { tags: ['server'], security: [] }
  const health = { operationId: 'getHealth', summary: 'The process is running.' }
  app.get(
    '/health',
    { schema: { ...documented, ...health, response: { 200: Status } } },
    async () => ({
      status: 'ok' as const,
    }),
  )
  const ready = {
    operationId: 'getReadiness',
    summary: 'The server can take work: its store can be read and written.',
  }
  app.get(
    '/ready',
    { schema: { ...documented, ...ready, response: { 200: Readiness } } },
    async () => {
      if (app.draining.aborted) throw new ApiError('server_draining', { retryAfterS: 1 })
      const { failing, cause, missing } = await checkStore()
      if (failing.length > 0) {
        const message = `The store cannot be used: ${failing.join('; ')}.`
        throw new ApiError('store_unavailable', { message, retryAfterS: 1, cause })
      }
      return { status: 'ok' as const, missing }
    },
  )
}
