/** Chooses the project, with a search. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { icon } from '../parts/icon.ts'
import { Popover } from '../parts/overlay/popover.ts'
import { pathTo } from '../shell/page-route.ts'
import { lastProject, projectsWith } from './known-projects.ts'
import { ProjectFacts } from './project-facts.ts'

/** Limit: projects that are listed at once; a search finds the others. */
const LISTED_MAX = 50

export function ProjectSwitch() {
  const here = lastProject.value
  if (projectsWith('').length === 0) return null
  const label = html`${icon('folder')}<span class="rail-label">${here ?? 'Choose a project'}</span>${icon('chevrons-up-down')}`
  return html`<${Popover} label=${label} name="Project" title=${here ?? 'Choose a project'} className="project-switch">
    ${(close: () => void) => html`<${ProjectList} onChoose=${close} />`}
  </${Popover}>`
}

function ProjectList({ onChoose }: { readonly onChoose: () => void }) {
  const [text, setText] = useState('')
  const found = projectsWith(text)
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const list = event.currentTarget as HTMLElement
    const stops = [...list.querySelectorAll<HTMLElement>('input, a')]
    stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus()
  }
  return html`<div class="project-list" onKeyDown=${move}>
    <input type="search" aria-label="Search projects" placeholder="Search projects" value=${text} onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)} />
    <ul>${found.slice(0, LISTED_MAX).map(
      (project) => html`<li key=${project}>
        <a href=${pathTo(project)} aria-current=${project === lastProject.value ? 'true' : undefined} onClick=${onChoose}>${project}<${ProjectFacts} project=${project} /></a>
      </li>`,
    )}</ul>
    ${found.length === 0 && html`<p class="faint">No project has this in its name.</p>`}
    ${found.length > LISTED_MAX && html`<p class="faint">${found.length - LISTED_MAX} more: search for them.</p>`}
    <a class="all-projects" href="/" onClick=${onChoose}>${icon('layout-grid')} All projects</a>
  </div>`
}
