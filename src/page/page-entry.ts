/** Puts the page into the document. */
import { html, render } from 'htm/preact'
import { openSession } from './api/session.ts'
import { App } from './shell/app.ts'
import { followLinks } from './shell/location.ts'

const root = document.getElementById('page')
if (root === null) throw new Error('the document has no place for the page')
followLinks()
void openSession()
render(html`<${App} />`, root)
