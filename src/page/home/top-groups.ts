/** What calls can be grouped by for a list of the top ones. Pure. */
import { shortOp } from '../parts/format.ts'

interface Group {
  readonly label: string
  /** Of the statistics. */
  readonly field: string
  /** How a name is shown, and searched for in the list of calls. */
  readonly wordsOf?: (name: string) => string
  /** Parameters of the list of the calls of a row. */
  readonly linkOf: (words: string) => Readonly<Record<string, string>>
  /** The name of the calls without one. */
  readonly unnamed: string
  readonly none: string
}

export const GROUPS = {
  models: {
    label: 'Models',
    field: 'model',
    linkOf: (model) => ({ model }),
    unnamed: 'no model',
    none: 'No call in this time reports a model.',
  },
  operations: {
    label: 'Operations',
    field: 'op_name',
    wordsOf: shortOp,
    linkOf: (op) => ({ op }),
    unnamed: '',
    none: 'No calls in this time.',
  },
  users: {
    label: 'Users',
    field: 'end_user_id',
    linkOf: (user) => ({ 'end-user': user }),
    unnamed: 'no user',
    none: 'No call in this time names its end user.',
  },
  errors: {
    label: 'Errors',
    field: 'error_type',
    linkOf: (error) => ({ q: `error:${JSON.stringify(error)}` }),
    unnamed: '',
    none: 'No call of this time failed.',
  },
} satisfies Record<string, Group>

export type GroupName = keyof typeof GROUPS

export function groupOf(name: GroupName): Group {
  return GROUPS[name]
}
