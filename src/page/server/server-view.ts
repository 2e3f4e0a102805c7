/** What admins see of the server itself: its keys, and the models that answer. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { Failure } from '../parts/notice.ts'
import type { ViewProps } from '../shell/page-route.ts'
import { Backends } from './backends.ts'
import { Keys } from './keys.ts'

/** Its subject is `keys` or `models`; it has no project. */
export function ServerView({ subject }: ViewProps) {
  if (!may('admin')) {
    return html`<h1>${subject === 'keys' ? 'Keys' : 'Models'}</h1><${Failure} words="The key may not look at keys and models of the server: it lacks the scope admin." />`
  }
  return subject === 'keys' ? html`<${Keys} />` : html`<${Backends} />`
}
