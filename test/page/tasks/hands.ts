/** Two ways to do a task on the page, counted: by the mouse, and by keys alone with a focus that is always visible. */
import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type OpenPage, PROJECT } from '../browser.ts'

/** Limit: presses of Tab on the way to one control. */
const TABS_MAX = 120

/** The first view of a project with calls, in a tab of its own. */
export async function openFirstView({ page, url, key }: OpenPage): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(`${url}/${PROJECT}/weave#key=${key}`)
  await tab.getByText('Top models').waitFor()
  // What loads later moves controls, and with them the focus.
  await tab.waitForLoadState('networkidle')
  return tab
}

interface Mouse {
  readonly page: Page
  /** Clicks so far. */
  readonly clicks: number
  click(target: Locator, options?: { readonly modifiers?: ['Shift'] }): Promise<void>
  /** Writes into the focused field, and ends with Enter; that is no click. */
  type(text: string): Promise<void>
}

export function createMouse(page: Page): Mouse {
  let clicks = 0
  return {
    page,
    get clicks() {
      return clicks
    },
    async click(target, options) {
      await target.click(options)
      clicks++
    },
    async type(text) {
      await write(page, text)
      await page.keyboard.press('Enter')
    },
  }
}

interface Keys {
  readonly page: Page
  /** Presses so far, without those of texts. */
  readonly presses: number
  press(...keys: readonly string[]): Promise<void>
  /** Moves the focus on until it is at the control. @param key - `j` moves by rows */
  tabTo(target: Locator, key?: 'Tab' | 'Shift+Tab' | 'j'): Promise<void>
  /** Writes into the focused field. */
  type(text: string): Promise<void>
}

export function createKeys(page: Page): Keys {
  let presses = 0
  const press = async (key: string) => {
    await page.keyboard.press(key)
    presses++
    const problem = await page.evaluate<string | null>(FOCUS_PROBLEM)
    if (problem !== null) throw new Error(`after ${key} the focus cannot be seen: ${problem}`)
  }
  return {
    page,
    get presses() {
      return presses
    },
    async press(...keys) {
      for (const key of keys) await press(key)
    },
    async tabTo(target, key = 'Tab') {
      await target.waitFor()
      for (let tabs = 0; tabs < TABS_MAX; tabs++) {
        if (await target.evaluate((element) => element === element.ownerDocument.activeElement))
          return
        await press(key)
      }
      throw new Error(`${TABS_MAX} presses of ${key} do not reach ${target}`)
    },
    type: (text) => write(page, text),
  }
}

async function write(page: Page, text: string): Promise<void> {
  await page.locator('input:focus, textarea:focus').waitFor()
  await page.keyboard.type(text)
}

/**
 * Why the focused control cannot be seen, as an expression; null when it can. It has an outline, also of the element that
 * stands for it, lies in the window, and nothing covers it. The view itself and a dialog may have the focus without one.
 */
const FOCUS_PROBLEM = `(() => {
  const control = document.activeElement
  if (control === null || control.matches('body, main, dialog')) return null
  const name = control.outerHTML.slice(0, 200)
  const isOutlined = (element, part) => {
    const { outlineStyle, outlineWidth, content } = getComputedStyle(element, part)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && (part === undefined || content !== 'none')
  }
  const around = [control, control.parentElement, control.closest('label')].filter((each) => each !== null)
  if (!around.some((each) => isOutlined(each)) && !['::before', '::after'].some((part) => isOutlined(control, part)))
    return 'no outline: ' + name
  const { left, right, top, bottom } = control.getBoundingClientRect()
  const middle = [(Math.max(left, 0) + Math.min(right, innerWidth)) / 2, (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2]
  if (right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return 'outside of the window: ' + name
  const seen = document.elementFromPoint(...middle)
  const isSeen = seen !== null && (control.contains(seen) || seen.contains(control) || seen.closest('label')?.contains(control))
  return isSeen ? null : 'covered by ' + seen?.outerHTML.slice(0, 200) + ': ' + name
})()`

/** The most clicks of each task, from the first view of the project. */
const CLICKS_MAX = {
  'Find the slow calls of yesterday': 5,
  'See which model costs most, and why': 3,
  'Find the error of a failing trace': 3,
  'Compare two evaluations': 4,
  'Rate ten calls': 32,
  'Make a dataset of ten calls': 4,
  'Replay a call with another model': 4,
  'See whether a change of a prompt helped': 3,
  'Make a key for a colleague': 4,
  'Watch a training run': 2,
} as const

/** Requires a task to need no more clicks than it may, and the table of the docs to have its clicks and to allow its keys. */
export function expectCounts(task: keyof typeof CLICKS_MAX, mouse: Mouse, keys: Keys): void {
  expect(mouse.clicks).toBeLessThanOrEqual(CLICKS_MAX[task])
  const docs = readFileSync(new URL('../../../docs/page.md', import.meta.url), 'utf8')
  const row = docs.split('\n').find((line) => line.startsWith(`| ${task} |`))
  const [clicks, pressesMax] = row?.match(/\d+/g)?.map(Number) ?? []
  expect(mouse.clicks).toBe(clicks)
  expect(keys.presses).toBeLessThanOrEqual(pressesMax ?? 0)
}
