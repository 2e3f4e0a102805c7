/** The keys that work in every view. */

import { lastProject } from '../frame/known-projects.ts'
import { hrefOf, linksWithKeys } from '../frame/navigation.ts'
import { toggleRail } from '../frame/rail.ts'
import { go } from '../shell/location.ts'
import { openSheet } from './open-sheet.ts'

/** Milliseconds in which the second key follows `g`. */
const PAIR_MS = 1500

let pairedUntilMs = 0

/** Listens for as long as the page is open. */
export function listenForShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      if (!isModal()) openSheet('palette')
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isModal() || isTyping(event)) return
    if (press(event.key)) event.preventDefault()
  })
}

/** @returns whether the key means something */
function press(key: string): boolean {
  if (performance.now() < pairedUntilMs) {
    pairedUntilMs = 0
    const link = linksWithKeys(lastProject.value).find((each) => each.key === key)
    if (link !== undefined) go(hrefOf(link, lastProject.value ?? ''))
    return link !== undefined
  }
  if (key === 'g') pairedUntilMs = performance.now() + PAIR_MS
  else if (key === '?') openSheet('help')
  else if (key === '/') focusSearch()
  else if (key === '[') toggleRail()
  else if (key === 'j') return focusRow(1)
  else if (key === 'k') return focusRow(-1)
  else if (key === 'x' || key === 'X') return selectRow(key === 'X')
  else return false
  return true
}

/** The first search of the view, or otherwise the palette. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>(
    'main input[type="search"], main [data-search]',
  )
  if (field === null) openSheet('palette')
  else field.focus()
}

/** The rows of tables, without their headers. */
const ROWS = 'main [role="row"]:not(.head), main tbody tr'

/** Focuses the link of the next or the previous row; from elsewhere, of the first. @returns whether there is one */
function focusRow(step: 1 | -1): boolean {
  const links = [...document.querySelectorAll(ROWS)].flatMap((row) => row.querySelector('a') ?? [])
  const at = links.findIndex((link) => link.closest(ROWS)?.contains(document.activeElement))
  const next = at === -1 ? links[0] : links[at + step]
  next?.focus()
  return next !== undefined
}

/** Selects the row that has the focus, or deselects it. @param isRange - with the rows since the last one */
function selectRow(shiftKey: boolean): boolean {
  const box = document.activeElement?.closest(ROWS)?.querySelector('input[type="checkbox"]')
  box?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey }))
  return Boolean(box)
}

function isModal(): boolean {
  return document.querySelector('dialog[open]') !== null
}

function isTyping({ target }: KeyboardEvent): boolean {
  const field = (target as Element | null)?.closest('input, select, textarea, [contenteditable]')
  return (
    field !== null && field !== undefined && !field.matches('[type="checkbox"], [type="radio"]')
  )
}
