/** The choice of a project. */
import { html } from 'htm/preact'
import { caller } from '../api/session.ts'
import { FirstTrace } from '../home/first-trace.ts'
import { pathTo } from './place.ts'

export function Projects() {
  const projects = caller.value?.projects ?? []
  const [pattern = '*'] = caller.value?.project_patterns ?? []
  if (projects.length === 0) {
    const project = pattern.includes('*')
      ? pattern.replace(/^\*$/, 'acme/*').replace('*', 'demo')
      : pattern
    return html`<h1>Projects</h1><${FirstTrace} project=${project} />`
  }
  return html`<h1>Projects</h1>
    <ul class="projects">
      ${projects.map((project) => html`<li key=${project}><a href=${pathTo(project)}>${project}</a></li>`)}
    </ul>`
}
