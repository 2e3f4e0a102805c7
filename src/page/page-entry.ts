/** Mounts the page. */
import { html, render } from 'htm/preact'
import { openSession } from './api/session.ts'
import { listenForShortcuts } from './commands/shortcuts.ts'
import { App } from './shell/app.ts'
import { followLinks, pageRoute } from './shell/location.ts'
import { loadView } from './shell/views.ts'

const root = document.getElementById('page')
if (root === null) throw new Error('the document has no place for the page')
followLinks()
listenForShortcuts()
void openSession()
// In parallel with the request for the signed-in user, not after it.
if (pageRoute.value !== null) loadView(pageRoute.value.view).catch(() => undefined)
// What the document shows until now.
root.replaceChildren()
render(html`<${App} />`, root)
