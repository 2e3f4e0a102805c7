/** The choice of a project. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { caller, may, readCallerAgain } from '../api/session.ts'
import { FirstTrace } from '../home/first-trace.ts'
import { formatCost, formatCount } from '../parts/format.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'
import { NotReadable } from '../shell/not-readable.ts'
import { pathTo } from '../shell/page-route.ts'
import { projectsWith } from './known-projects.ts'
import { useProjectFacts } from './project-facts.ts'

const PAUSE_MS = 5000
/** Limit: projects that are listed at once; a search finds the others. */
const LISTED_MAX = 100

/** Projects appear as their first calls are recorded. */
export function Projects() {
  const [isReading, setReading] = useState(false)
  const [text, setText] = useState('')
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
  const found = projectsWith(text)
  return html`<div class="bar"><h1>Projects</h1><span class="faint">${formatCount(projects.length)}</span><span class="push"></span>
      <input type="search" aria-label="Search projects" placeholder="Search projects" value=${text} onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)} />
    </div>
    ${
      found.length === 0
        ? html`<p class="notice">No project has this in its name.</p>`
        : html`<div class="card scroll flush" tabindex="0"><table class="list whole" aria-label="Projects">
          <thead><tr><th scope="col">Project</th><th scope="col" class="number">Calls, 30 days</th><th scope="col" class="number">Errors</th><th scope="col" class="number">Cost</th><th scope="col">Last call</th></tr></thead>
          <tbody>${found.slice(0, LISTED_MAX).map((project) => html`<${ProjectRow} key=${project} project=${project} />`)}</tbody>
        </table></div>`
    }
    ${found.length > LISTED_MAX && html`<p class="faint">${formatCount(found.length - LISTED_MAX)} more: search for them.</p>`}`
}

function ProjectRow({ project }: { readonly project: string }) {
  const facts = useProjectFacts(project)
  return html`<tr>
    <th scope="row"><a href=${pathTo(project)}>${project}</a></th>
    <td class="number">${formatCount(facts?.calls)}</td>
    <td class="number">${facts !== null && facts.errors > 0 ? html`<span class="bad">${formatCount(facts.errors)}</span>` : facts !== null && '0'}</td>
    <td class="number">${facts !== null && (facts.cost === null ? '–' : formatCost(facts.cost))}</td>
    <td>${facts !== null && (facts.newest === null ? '–' : html`<${RelativeTime} at=${facts.newest} />`)}</td>
  </tr>`
}
