/** Liveness and readiness, for probes. No credentials, no secrets. */
import { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'

export interface HealthRoutesOptions {
  readonly isReady: () => boolean
}

const Status = z.object({ status: z.literal('ok').describe('Always `ok`.') })

export async function healthRoutes(app: App, { isReady }: HealthRoutesOptions): Promise<void> {
  const schema = (operationId: string, summary: string) => ({
    tags: ['server'],
    operationId,
    summary,
    security: [],
    response: { 200: Status },
  })
  app.get('/health', { schema: schema('getHealth', 'The process lives.') }, async () => ({
    status: 'ok' as const,
  }))
  app.get('/ready', { schema: schema('getReadiness', 'The server can take work.') }, async () => {
    if (!isReady() || app.draining.aborted) {
      throw new ApiError('store_unavailable', { retryAfterS: 1 })
    }
    return { status: 'ok' as const }
  })
}
