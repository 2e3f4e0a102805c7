/** How usage is counted; an addition to the spec. */
import { z } from 'zod'

export const UsageCounting = z.enum(['own', 'reported'], 'must be own or reported').meta({
  id: 'UsageCounting',
  description:
    '`own`: each token once, at the call that spent it: what a call reports less what its children report. `reported`: what each call reports, as it is.',
})
export type UsageCounting = z.infer<typeof UsageCounting>
