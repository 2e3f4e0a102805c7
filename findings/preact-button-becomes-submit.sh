#!/bin/sh
# Preact 11.2.0 in Chromium.
#
# A click on a button of the type `button` should not submit its form. It does where the handler replaces that button by one
# without a type: Preact renders in a microtask, which runs between the handler and the default action of a person's click,
# and changes the same element, which is a submit button by then. With a key for each of the two buttons it does not.
#
# Output seen:
#   submits without keys: 1, with keys: 0
#
# Needs /usr/bin/chromium.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund preact@11.2.0 htm@3.1.1 playwright-core@1.65.1
cat > try.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const imports = { preact: '/preact/dist/preact.mjs', 'preact/hooks': '/preact/hooks/dist/hooks.mjs', htm: '/htm/dist/htm.mjs' }
const script = `
  import { h, render } from 'preact'
  import { useState } from 'preact/hooks'
  import htm from 'htm'
  const html = htm.bind(h)
  const key = (name) => (location.search === '?keys' ? name : undefined)
  window.submits = 0
  function Form() {
    const [isShown, show] = useState(false)
    const submit = (event) => { event.preventDefault(); window.submits += 1 }
    return html\`<form onSubmit=\${submit}>\${isShown
      ? html\`<button key=\${key('save')}>Save</button>\`
      : html\`<button key=\${key('show')} type="button" onClick=\${() => show(true)}>Show</button>\`}</form>\`
  }
  render(html\`<\${Form} />\`, document.body)`
const page = `<script type="importmap">${JSON.stringify({ imports })}</script><body></body><script type="module">${script}</script>`
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
async function countSubmits(query) {
  const tab = await browser.newPage()
  await tab.route('**', (route) => {
    const { pathname } = new URL(route.request().url())
    const isPage = pathname === '/'
    const body = isPage ? page : readFileSync(`node_modules${pathname}`, 'utf8')
    return route.fulfill({ body, contentType: isPage ? 'text/html' : 'text/javascript' })
  })
  await tab.goto(`http://try.test/${query}`)
  await tab.click('text=Show')
  await tab.waitForSelector('text=Save')
  return tab.evaluate(() => window.submits)
}
const seen = [await countSubmits(''), await countSubmits('?keys')]
await browser.close()
console.log(`submits without keys: ${seen[0]}, with keys: ${seen[1]}`)
process.exit(seen.join() === '1,0' ? 0 : 1)
JS
node try.mjs
