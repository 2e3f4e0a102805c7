/** The header of every view: project, views, time, user. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { caller, may, signOut } from '../api/session.ts'
import { go, pageRoute, serverView } from './location.ts'
import { pathTo, type View } from './page-route.ts'
import { timeMode } from './settings.ts'

interface Link {
  readonly path: string
  readonly label: string
  readonly views: readonly View[]
  /** That a key needs for the view. Default: traces:read. */
  readonly scope?: string
}

const LINKS: readonly Link[] = [
  { path: '', label: 'Home', views: ['home'] },
  { path: 'calls', label: 'Calls', views: ['calls', 'trace'] },
  { path: 'threads', label: 'Threads', views: ['threads', 'thread'] },
  { path: 'feedback', label: 'Feedback', views: ['feedback'] },
  { path: 'queues', label: 'Queues', views: ['queues', 'queue'] },
  {
    path: 'evaluations',
    label: 'Evaluations',
    views: ['evaluations', 'evaluation', 'compare', 'leaderboard'],
  },
  { path: 'objects', label: 'Objects', views: ['objects', 'object'] },
  { path: 'playground', label: 'Playground', views: ['playground'], scope: 'inference' },
  { path: 'training', label: 'Training', views: ['training'], scope: 'training' },
]

/** Whether the key has the scope of a view; all have, until the key's are known. */
function isUseful({ scope = 'traces:read' }: Link): boolean {
  return caller.value === null || may(scope)
}

/** Pixels of the previous link that stay visible. */
const WAY_SEEN_PX = 60

export function Header() {
  const at = pageRoute.value
  const ways = useRef<HTMLDivElement>(null)
  // On a narrow screen the links are one scrolling line.
  useLayoutEffect(() => {
    const chosen = ways.current?.querySelector<HTMLElement>('[aria-current]')
    if (ways.current && chosen) ways.current.scrollLeft = chosen.offsetLeft - WAY_SEEN_PX
  }, [at?.view, serverView.value])
  return html`<header class="top">
    <button class="skip" onClick=${() => document.querySelector('main')?.focus()}>Skip to the content</button>
    <a class="brand" href="/">Weft</a>
    <${ProjectSwitch} />
    <div class="ways" ref=${ways}>
      ${
        at !== null &&
        html`<nav aria-label="Views">
          ${LINKS.filter(isUseful).map(({ path, label, views }) => {
            const current = views.includes(at.view) ? 'page' : undefined
            return html`<a key=${path} href=${pathTo(at.project, path)} aria-current=${current}>${label}</a>`
          })}
        </nav>`
      }
      <${ServerLinks} />
    </div>
    <button
      class="zone"
      title="Zone of all times"
      onClick=${() => {
        timeMode.value = timeMode.value === 'UTC' ? 'local' : 'UTC'
      }}
    >${timeMode.value === 'UTC' ? 'UTC' : 'local time'}</button>
    <a class="faint user" href="/account" aria-current=${serverView.value === 'account' ? 'page' : undefined}>${caller.value?.svc_username}</a>
    <button title=${caller.value?.svc_username} onClick=${signOut}>Sign out</button>
  </header>`
}

function ServerLinks() {
  const current = (...views: readonly string[]) =>
    views.includes(serverView.value ?? '') ? 'page' : undefined
  return html`<nav aria-label="Server">
    ${
      may('admin') &&
      html`<a href="/keys" aria-current=${current('keys', 'audit')}>Keys</a>
        <a href="/models" aria-current=${current('models')}>Models</a>`
    }
    <a href="/docs">API</a>
  </nav>`
}

function ProjectSwitch() {
  const here = pageRoute.value?.project
  const known = caller.value?.projects ?? []
  const projects = here === undefined || known.includes(here) ? known : [here, ...known]
  if (projects.length === 0) return null
  const change = (event: Event) => go(pathTo((event.target as HTMLSelectElement).value))
  return html`<select aria-label="Project" value=${here ?? ''} onChange=${change}>
    ${here === undefined && html`<option value="">choose a project</option>`}
    ${projects.map((project) => html`<option key=${project} value=${project}>${project}</option>`)}
  </select>`
}
