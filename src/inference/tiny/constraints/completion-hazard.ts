/**
 * Decides which requests could block the model's process. Separate from the planning of completions, which needs the
 * schemas: without them a process starts in half the time.
 */
import type { CompletionPlan } from '../sampling/completion-plan.ts'

type Hazardous = Pick<CompletionPlan, 'prompt' | 'constraint'>

/**
 * The field through which a request could hold up the process for ever, or null when there is none. Such a
 * request must have a process of its own.
 */
export function findHazard(plan: Hazardous | { readonly kind: string }): string | null {
  if ('kind' in plan) return null
  const { prompt, constraint } = plan
  const isOwn = 'plain' in prompt || prompt.template === null
  return isOwn ? (constraint?.param ?? null) : 'chat_template'
}
