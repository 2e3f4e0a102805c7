/** What a key without the scope traces:read may do instead. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { pathTo } from './page-route.ts'

/** Shown instead of views that the key may not read. */
export function NotReadable({ project }: { readonly project: string }) {
  return html`<h1>${project}</h1>
    <p class="notice">
      This key may not read calls: it lacks the scope traces:read.
      ${may('inference') && html` It may use models, in the <a href=${pathTo(project, 'playground')}>playground</a>.`}
      ${may('training') && html` It may train models: <a href=${pathTo(project, 'training')}>training</a>.`}
    </p>`
}
