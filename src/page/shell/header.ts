/** What stands above every view: project, views, time, who is signed in. */
import { html } from 'htm/preact'
import { caller, signOut } from '../api/session.ts'
import { go, place } from './location.ts'
import { pathTo } from './place.ts'
import { timeMode } from './settings.ts'

const VIEWS = [
  { view: 'home', path: '', label: 'Home' },
  { view: 'calls', path: 'calls', label: 'Calls' },
  { view: 'playground', path: 'playground', label: 'Playground' },
] as const

export function Header() {
  const at = place.value
  return html`<header class="top">
    <a class="brand" href="/">Weft</a>
    <${ProjectSwitch} />
    ${
      at !== null &&
      html`<nav aria-label="Views">
        ${VIEWS.map(({ view, path, label }) => {
          const isHere = at.view === view || (view === 'calls' && at.view === 'trace')
          return html`<a key=${view} href=${pathTo(at.project, path)} aria-current=${isHere ? 'page' : undefined}>${label}</a>`
        })}
      </nav>`
    }
    <span class="push"></span>
    <button
      title="Zone of all times"
      onClick=${() => {
        timeMode.value = timeMode.value === 'UTC' ? 'local' : 'UTC'
      }}
    >${timeMode.value === 'UTC' ? 'UTC' : 'local time'}</button>
    <a href="/docs">API</a>
    <span class="faint user">${caller.value?.svc_username}</span>
    <button onClick=${signOut}>Sign out</button>
  </header>`
}

function ProjectSwitch() {
  const here = place.value?.project
  const known = caller.value?.projects ?? []
  const projects = here === undefined || known.includes(here) ? known : [here, ...known]
  if (projects.length === 0) return null
  const change = (event: Event) => go(pathTo((event.target as HTMLSelectElement).value))
  return html`<select aria-label="Project" value=${here ?? ''} onChange=${change}>
    ${here === undefined && html`<option value="">choose a project</option>`}
    ${projects.map((project) => html`<option key=${project} value=${project}>${project}</option>`)}
  </select>`
}
