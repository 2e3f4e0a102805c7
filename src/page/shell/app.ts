/** The root of the page: the session, and the view named by the address. */
import { effect } from '@preact/signals'
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useErrorBoundary, useLayoutEffect, useRef } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import { hasSession, key } from '../api/key.ts'
import {
  caller,
  may,
  passwordLink,
  readCallerAgain,
  sessionFailure,
  signOut,
} from '../api/session.ts'
import { unknownProject } from '../api/unknown-project.ts'
import { Sheet } from '../commands/sheet.ts'
import { Header } from '../frame/header.ts'
import { Drawer, isCollapsed, Rail } from '../frame/rail.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { SetPassword } from '../people/password-forms.ts'
import { pageRoute, serverView } from './location.ts'
import { NotReadable } from './not-readable.ts'
import type { PageRoute } from './page-route.ts'
import { SignIn } from './sign-in.ts'
import { knownView, loadView } from './views.ts'

effect(() => {
  const at = pageRoute.value
  const names = at === null ? [serverView.value] : [at.subject ?? at.view, at.project]
  document.title = [...names, 'Weft'].filter((name) => name !== null).join(' · ')
})

export function App() {
  const at = pageRoute.value
  const name = at === null ? serverView.value : `${at.project} ${at.view} ${at.subject}`
  useFocusAt(name)
  if (passwordLink.value !== null) return html`<${SetPassword} secret=${passwordLink.value} />`
  if (key.value === null && !hasSession.value) return html`<${SignIn} />`
  // Home depends on no rights of the user, so its requests need not wait for that answer.
  const isEarly = at?.view === 'home' && sessionFailure.value === null
  if (caller.value === null && !isEarly) return html`<${NotYet} />`
  if (at === null) return html`<${Frame}>${withoutProject()}</${Frame}>`
  const isShown = UNREAD_VIEWS.includes(at.view) || caller.value === null || may('traces:read')
  return html`<${Frame}>${unknownProject.value === at.project && html`<${Unwritten} project=${at.project} />`}${isShown ? html`<${OpenedView} key=${name} ...${at} />` : html`<${NotReadable} project=${at.project} />`}</${Frame}>`
}

/** What stands around each view. */
function Frame({ children }: { readonly children?: ComponentChildren }) {
  return html`<button class="skip" onClick=${() => document.querySelector('main')?.focus()}>Skip to the content</button>
    <div class="frame" data-rail=${isCollapsed.value ? 'icons' : 'whole'}>
      <${Rail} />
      <div class="frame-view"><${Header} /><main tabindex="-1">${children}</main></div>
    </div>
    <${Drawer} />
    <${Sheet} />`
}

/** Said above each view: a misspelt project looks like an empty one. */
function Unwritten({ project }: { readonly project: string }) {
  return html`<p class="notice" role="status">
    Nothing was ever written to the project ${project}. Is its name right? <a href="/">Your projects</a>
  </p>`
}

/** Views that read no calls; each of them says what else it needs. */
const UNREAD_VIEWS: readonly PageRoute['view'][] = ['playground', 'training', 'server', 'unknown']

/** Moves the focus to the new view when the focused link was removed with the old one. @param name - of the view */
function useFocusAt(name: string | null): void {
  const last = useRef(name)
  useLayoutEffect(() => {
    const isNew = last.current !== name
    last.current = name
    if (isNew && document.activeElement === document.body)
      document.querySelector('main')?.focus({ preventScroll: true })
  }, [name])
}

function withoutProject() {
  const name = serverView.value
  if (name === null)
    return html`<${OpenedView} key="projects" view="projects" project="" subject=${null} />`
  return html`<${OpenedView} key=${name} view="server" project="" subject=${name} />`
}

/** Shown while the owner of the key is looked up, or when that failed. */
function NotYet() {
  if (sessionFailure.value === null) return html`<${Loading} />`
  return html`<main>
    <${Failure} words=${sessionFailure.value} />
    <button onClick=${readCallerAgain}>Try again</button>
    <button onClick=${signOut}>Sign out</button>
  </main>`
}

function OpenedView({ view, ...shown }: PageRoute) {
  const [error, reset] = useErrorBoundary()
  const loaded = useLoad(view, () => loadView(view))
  const View = knownView(view) ?? loaded.value
  if (error !== undefined) {
    return html`<${Failure} words=${`This view cannot be shown: ${errorText(error)}`} />
      <button onClick=${reset}>Try again</button>`
  }
  if (View !== null) return html`<${View} ...${shown} />`
  if (loaded.failure === null) return html`<${Loading} />`
  return html`<${Failure} words=${loaded.failure} />
    <button onClick=${() => location.reload()}>Reload the page</button>`
}
