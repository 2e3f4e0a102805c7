/** Training in a project: its models and jobs, one job, or a new one. */
import { html } from 'htm/preact'
import { may } from '../api/session.ts'
import { Failure } from '../parts/notice.ts'
import type { ViewProps } from '../shell/page-route.ts'
import { NewJob } from './from-calls/new-job.ts'
import { JobView } from './job.ts'
import { Overview } from './overview.ts'
import { ServedNames } from './served/served-names.ts'

/** Its subject is the id of a job, `new`, or `served`; null for all of the project. */
export function Training({ project, subject }: ViewProps) {
  if (!may('training')) {
    return html`<h1>Training</h1><${Failure} words="The key may not look at training: it lacks the scope training." />`
  }
  if (subject === null) return html`<${Overview} project=${project} />`
  if (subject === 'new') return html`<${NewJob} project=${project} />`
  if (subject === 'served') return html`<${ServedNames} key=${project} project=${project} />`
  return html`<${JobView} key=${subject} project=${project} id=${subject} />`
}
