/** What watches the project of the demo by itself: an evaluator of the agent's answers, and an alert. */
import type { DemoApi } from './demo-api.ts'

const EVALUATOR = 'short-answer'
const ALERT = 'Many errors'
/** Of the host no name is resolved: the demo reaches nobody. */
const WEBHOOK = 'https://alerts.example.invalid/shop'

/** Scores the agent's answers from now on; a second run of the demo finds it there. */
export async function addEvaluator({ send, project }: DemoApi, agent: string): Promise<void> {
  const { evaluators } = await send<{ evaluators: { name: string }[] }>('/evaluators/query', {
    project_id: project,
  })
  if (evaluators.some(({ name }) => name === EVALUATOR)) return
  await send('/evaluators', {
    project_id: project,
    name: EVALUATOR,
    description: 'Whether the agent answers in at most 200 characters.',
    filter: { op_names: [`weave:///${project}/op/${agent}:*`] },
    scorer: { kind: 'rule', rule: { type: 'length', max: 200 } },
  })
}

/** An alert needs the scope admin. @returns whether the key has it */
export async function addAlert({ send, get, project }: DemoApi): Promise<boolean> {
  const { scopes } = await get<{ scopes: readonly string[] }>('/me')
  if (!scopes.includes('admin')) return false
  const query = new URLSearchParams({ project_id: project })
  const { data } = await get<{ data: { name: string }[] }>(`/v1/alerts?${query}`)
  if (data.some(({ name }) => name === ALERT)) return true
  await send('/v1/alerts', {
    project_id: project,
    name: ALERT,
    metric: { kind: 'calls', metric: 'error_share' },
    direction: 'above',
    threshold: 0.5,
    window_s: 3600,
    webhook: { url: WEBHOOK, format: 'standard' },
  })
  return true
}
