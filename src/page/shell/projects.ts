/** The choice of a project. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { caller, may, readCallerAgain } from '../api/session.ts'
import { FirstTrace } from '../home/first-trace.ts'
import { usePause } from '../parts/use-pause.ts'
import { NotReadable } from './not-readable.ts'
import { pathTo } from './page-route.ts'

const PAUSE_MS = 5000

/** Projects appear as their first calls are recorded. */
export function Projects() {
  const [isReading, setReading] = useState(false)
  usePause(isReading ? null : PAUSE_MS, () => {
    setReading(true)
    void readCallerAgain().finally(() => setReading(false))
  })
  const projects = caller.value?.projects ?? []
  const [pattern = '*'] = caller.value?.project_patterns ?? []
  if (projects.length === 0) {
    const project = pattern.includes('*')
      ? pattern.replace(/^\*$/, 'acme/*').replace('*', 'demo')
      : pattern
    if (!may('traces:read')) return html`<${NotReadable} project=${project} />`
    return html`<h1>Projects</h1><${FirstTrace} project=${project} />`
  }
  return html`<h1>Projects</h1>
    <ul class="projects">
      ${projects.map((project) => html`<li key=${project}><a href=${pathTo(project)}>${project}</a></li>`)}
    </ul>`
}
