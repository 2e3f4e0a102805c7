/** How usage is counted; an addition to the spec. */
import { z } from 'zod'

export const UsageCounting = z.enum(['own', 'reported'], 'must be own or reported').meta({
  id: 'UsageCounting',
  description:
    '`own`: each token once, at the call that spent it: the report of a call minus those of its children. `reported`: the unchanged report of each call.',
})
export type UsageCounting = z.infer<typeof UsageCounting>
