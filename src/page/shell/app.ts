/** The page as a whole: who is signed in, and the view that the address names. */
import { html } from 'htm/preact'
import { key } from '../api/key.ts'
import { caller } from '../api/session.ts'
import { Calls } from '../calls/calls.ts'
import { Home } from '../home/home.ts'
import { Loading } from '../parts/notice.ts'
import { Playground } from '../playground/playground.ts'
import { Trace } from '../trace/trace.ts'
import { Header } from './header.ts'
import { place } from './location.ts'
import type { Place } from './place.ts'
import { Projects } from './projects.ts'
import { SignIn } from './sign-in.ts'

export function App() {
  if (key.value === null) return html`<${SignIn} />`
  if (caller.value === null) return html`<${Loading} />`
  return html`<${Header} /><main>${place.value === null ? html`<${Projects} />` : viewOf(place.value)}</main>`
}

function viewOf({ project, view, subject }: Place) {
  switch (view) {
    case 'calls':
      return html`<${Calls} key=${project} project=${project} />`
    case 'trace':
      return html`<${Trace} key=${subject} project=${project} id=${subject ?? ''} />`
    case 'playground':
      return html`<${Playground} key=${project} project=${project} />`
    case 'home':
      return html`<${Home} key=${project} project=${project} />`
    default:
      return view satisfies never
  }
}
