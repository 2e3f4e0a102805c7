/** What has no project: the own account; for admins keys, who changed what, and the models that answer. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { Failure } from '../parts/notice.ts'
import { Account } from '../people/account.ts'
import { Budgets } from '../people/budgets.ts'
import { People } from '../people/people.ts'
import type { ViewProps } from '../shell/page-route.ts'
import { Audit } from './audit.ts'
import { Backends } from './backends.ts'
import { Keys } from './keys.ts'

const VIEWS = {
  keys: { title: 'Keys', View: Keys },
  people: { title: 'People', View: People },
  budgets: { title: 'Budgets', View: Budgets },
  audit: { title: 'Audit', View: Audit },
  models: { title: 'Models', View: Backends },
}

/** Its subject is `account`, `keys`, `people`, `budgets`, `audit` or `models`; it has no project. */
export function ServerView({ subject }: ViewProps) {
  if (subject === 'account') return html`<${Account} />`
  const { title, View } = VIEWS[subject as keyof typeof VIEWS] ?? VIEWS.models
  if (!may('admin')) {
    return html`<h1>${title}</h1><${Failure} words="The key may not look at keys, the audit list and models of the server: it lacks the scope admin." />`
  }
  return html`<${View} />`
}
