/** Runs evaluators from when the server listens until it closes. */
import { createEvaluatorRunner } from '../../evaluators/runner.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'

type RunnerOptions = Parameters<typeof createEvaluatorRunner>[0]

export function openEvaluators(
  app: App,
  options: Omit<RunnerOptions, 'newId' | 'onFailure'>,
): void {
  const onFailure = (error: unknown) => app.log.error({ err: error }, 'evaluators failed')
  const runner = createEvaluatorRunner({ ...options, newId, onFailure })
  app.addHook('onListen', runner.start)
  app.addHook('preClose', runner.stop)
}
