/** What LiteLLM's spans (1.110.2) have beside the conventions. Pure data. */
import { type Dialect, python } from './dialect.ts'

export const LITELLM: Dialect = {
  name: 'litellm',
  usage: [python('metadata.usage_object')],
  cost: ['gen_ai.cost.total_cost', 'litellm.cost.total'],
  user: ['metadata.user_id'],
}
