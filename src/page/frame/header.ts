/** The line above each view: where it is, the search, the zone of times and help. */
import { html } from 'htm/preact'
import { Fragment } from 'preact'
import { openSheet } from '../commands/open-sheet.ts'
import { icon } from '../parts/icon.ts'
import { pageRoute, serverView } from '../shell/location.ts'
import { type PageRoute, pathTo, pathToVersion, type View } from '../shell/page-route.ts'
import { nameOfSubject } from '../shell/subject-name.ts'
import { hrefOf, linkOf, linkOfServer } from './navigation.ts'
import { isDrawerOpen, ZoneButton } from './rail.ts'

export function Header() {
  const openDrawer = () => {
    isDrawerOpen.value = true
  }
  return html`<header class="top">
    <button class="ghost drawer-opener" aria-label="Menu" aria-haspopup="dialog" onClick=${openDrawer}>${icon('menu')}</button>
    <${Breadcrumb} />
    <span class="push"></span>
    <button class="palette-opener" aria-haspopup="dialog" onClick=${() => openSheet('palette')}>
      ${icon('search')}<span class="palette-words">Search or go to …</span><kbd>${isMac ? '⌘' : 'Ctrl'} K</kbd>
    </button>
    <${ZoneButton} />
    <button class="ghost help" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" aria-haspopup="dialog" onClick=${() => openSheet('help')}>${icon('circle-question-mark')}</button>
  </header>`
}

const isMac = /mac|iphone|ipad/i.test(navigator.platform)

type Step = readonly [label: string, href: string | null]

function Breadcrumb() {
  const at = pageRoute.value
  const steps = at === null ? stepsOfServer(serverView.value) : stepsOf(at)
  return html`<nav class="breadcrumb" aria-label="Breadcrumb"><ol>${steps.map(
    ([label, href], index) => html`<${Fragment} key=${index}>
      <li title=${label}>${index > 0 && icon('chevron-right')}${href === null ? html`<span aria-current="page">${label}</span>` : html`<a href=${href}>${label}</a>`}</li>
    </${Fragment}>`,
  )}</ol></nav>`
}

function stepsOfServer(name: string | null): Step[] {
  if (name === 'account')
    return [
      ['Projects', '/'],
      ['Account', null],
    ]
  const link = name === null ? undefined : linkOfServer(name)
  return link === undefined
    ? [['Projects', null]]
    : [
        ['Projects', '/'],
        [link.label, null],
      ]
}

/** What is done in views below a list, by the view and its subject. */
const ACTIONS: Readonly<Record<string, string>> = {
  compare: 'Compare runs',
  'new-evaluation': 'Run an evaluation',
  'training/new': 'New job',
  'training/served': 'Served names',
}

/** Views whose subjects have names of their own beside the ids in the address. */
const HAVE_IDS: readonly View[] = [
  'trace',
  'queue',
  'evaluation',
  'leaderboard',
  'evaluators',
  'alerts',
  'training',
]

/** The last step is the view itself; an object has its newest version before the one that is shown. */
function stepsOf(at: PageRoute): Step[] {
  const { project, subject, version = 'latest' } = at
  const link = linkOf(at)
  const start: Step = [project, pathTo(project)]
  if (link === undefined) return [start, ['Unknown view', null]]
  const action = ACTIONS[subject === null ? at.view : `${at.view}/${subject}`]
  if (action !== undefined) return [start, [link.label, hrefOf(link, project)], [action, null]]
  const isItem = subject !== null && subject !== link.subject && at.view !== 'objects'
  if (!isItem) return [start, [link.label, null]]
  const list: Step = [link.label, hrefOf(link, project)]
  if (HAVE_IDS.includes(at.view)) return [start, list, [nameOfSubject(subject) ?? '…', null]]
  if (version === 'latest') return [start, list, [subject, null]]
  return [start, list, [subject, pathToVersion(project, subject, 'latest')], [version, null]]
}
