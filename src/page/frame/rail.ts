/** The rail on the left: project, views in groups, and the user; on a phone it is a drawer. */
import { signal } from '@preact/signals'
import { html } from 'htm/preact'
import { caller, signOut } from '../api/session.ts'
import { icon } from '../parts/icon.ts'
import { Dialog } from '../parts/overlay/dialog.ts'
import { pageRoute, serverView } from '../shell/location.ts'
import { timeMode } from '../shell/settings.ts'
import { chooseTimeMode } from '../shell/zone.ts'
import { lastProject } from './known-projects.ts'
import {
  groupsOfProject,
  hrefOf,
  linkOf,
  linkOfServer,
  serverLinks,
  type ViewLink,
} from './navigation.ts'
import { ProjectSwitch } from './project-switch.ts'

const NAME = 'weft.rail'
/** A narrower window begins with icons alone. */
const WIDE_PX = 1000

/** Whether the rail shows icons alone. */
export const isCollapsed = signal(
  (localStorage.getItem(NAME) ?? (innerWidth < WIDE_PX ? 'icons' : 'whole')) === 'icons',
)

export function toggleRail(): void {
  isCollapsed.value = !isCollapsed.value
  localStorage.setItem(NAME, isCollapsed.value ? 'icons' : 'whole')
}

/** Whether the drawer of a phone is open. */
export const isDrawerOpen = signal(false)

export function Rail() {
  return html`<div class="rail">
    <div class="rail-top">
      <a class="brand" href="/" title="All projects">${icon('layers')}<span class="rail-label">Weft</span></a>
      <button
        class="ghost"
        aria-expanded=${!isCollapsed.value}
        aria-label=${isCollapsed.value ? 'Expand the menu' : 'Collapse the menu'}
        title=${isCollapsed.value ? 'Expand the menu ([)' : 'Collapse the menu ([)'}
        onClick=${toggleRail}
      >${icon('panel-left')}</button>
    </div>
    <${RailContent} />
  </div>`
}

export function Drawer() {
  if (!isDrawerOpen.value) return null
  const close = () => {
    isDrawerOpen.value = false
  }
  // A followed link closes it.
  const follow = ({ target }: Event) => {
    if ((target as Element).closest('a') !== null) close()
  }
  return html`<${Dialog} label="Menu" kind="drawer" onClose=${close}>
    <div class="rail-top">
      <a class="brand" href="/" onClick=${follow}>${icon('layers')}<span class="rail-label">Weft</span></a>
      <button class="ghost" aria-label="Close" onClick=${close}>${icon('x')}</button>
    </div>
    <div class="rail-content" onClick=${follow}><${RailContent} isDrawer /></div>
  </${Dialog}>`
}

function RailContent({ isDrawer = false }: { readonly isDrawer?: boolean }) {
  const at = pageRoute.value
  const project = lastProject.value
  const current = at === null ? linkOfServer(serverView.value ?? '') : linkOf(at)
  const groups = project === null ? [] : groupsOfProject()
  const isLast = groups.at(-1)?.label === 'Settings'
  const ofServer = serverLinks()
  return html`<${ProjectSwitch} />
    <div class="rail-links">
      ${
        groups.length > 0 &&
        html`<nav aria-label="Views">${groups.map(
          ({ label, links }) => html`<div class="rail-group" key=${label}>
            <h2>${label}</h2>
            ${links.map((link) => html`<${RailLink} key=${link.path} link=${link} project=${project} isCurrent=${link === current} />`)}
          </div>`,
        )}</nav>`
      }
      <nav aria-label="Server">
        ${!isLast && ofServer.length > 0 && html`<h2>Settings</h2>`}
        ${ofServer.map((link) => html`<${RailLink} key=${link.path} link=${link} project="" isCurrent=${link === current} />`)}
        <a href="/docs" title="API">${icon('book-open')}<span class="rail-label">API</span></a>
      </nav>
    </div>
    ${isDrawer && html`<div class="rail-zone"><${ZoneButton} /></div>`}
    <div class="rail-user">
      <a class="user" href="/account" title=${caller.value?.svc_username} aria-current=${serverView.value === 'account' ? 'page' : undefined}>${icon('user')}<span class="rail-label">${caller.value?.svc_username}</span></a>
      <button class="ghost" title="Sign out" onClick=${signOut}>${icon('log-out')}<span class="rail-label">Sign out</span></button>
    </div>`
}

/** Chooses the zone of all times; on a phone it is in the drawer, otherwise in the header. */
export function ZoneButton() {
  const isUtc = timeMode.value === 'UTC'
  return html`<button class="ghost zone" title="Zone of all times" onClick=${() => chooseTimeMode(isUtc ? 'local' : 'UTC')}>${icon('globe')}<span class="rail-label">${isUtc ? 'UTC' : 'local time'}</span></button>`
}

interface RailLinkProps {
  readonly link: ViewLink
  readonly project: string
  readonly isCurrent: boolean
}

function RailLink({ link, project, isCurrent }: RailLinkProps) {
  const keys = link.key === undefined ? '' : ` (g ${link.key})`
  return html`<a
    href=${hrefOf(link, project)}
    title=${`${link.label}${keys}`}
    aria-current=${isCurrent ? 'page' : undefined}
  >${icon(link.icon)}<span class="rail-label">${link.label}</span></a>`
}
