import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { View } from '../../src/page/shell/page-route.ts'
import { findBarriers, hasBrowser } from './browser.ts'
import { useDemoProject } from './demo-project.ts'

type Filled = ReturnType<ReturnType<typeof useDemoProject>>['filled']

interface Shown {
  /** Below the project, or from `/` on. */
  readonly path: (filled: Filled) => string
  /** Seen when the view is there. */
  readonly sign: string
  /** What is opened in the view before. */
  readonly prepare?: (page: Page) => Promise<void>
}

const at = (path: string, sign: string, prepare?: Shown['prepare']): Shown => ({
  path: () => path,
  sign,
  ...(prepare && { prepare }),
})
const press = (words: string) => (page: Page) =>
  page.getByText(words, { exact: true }).first().click()

/** All views with what can be opened in them. */
const VIEWS: Readonly<Record<View, readonly Shown[]>> = {
  home: [
    at('', '[aria-label="Top models"]'),
    at('?range=30d', '[aria-label="Top models"]', async (page) => {
      await press('Arrange panels')(page)
      await press('Add a panel')(page)
    }),
  ],
  calls: [
    at('/calls', '.row.call', async (page) => {
      await page.locator('.row.call').getByRole('checkbox').first().click()
      await press('Add to a dataset')(page)
    }),
    { path: ({ agentCall }) => `/calls?open=${agentCall}`, sign: 'dialog .facts' },
  ],
  trace: [
    {
      path: ({ agentCall }) => `/calls/${agentCall}`,
      sign: '.detail .facts',
      prepare: press('Add to a dataset'),
    },
  ],
  threads: [at('/threads', 'main a[href*="/threads/"]')],
  thread: [{ path: ({ thread }) => `/threads/${thread}`, sign: '.message' }],
  users: [at('/users?range=30d', '[aria-label=Users] tbody tr')],
  user: [at('/users/hana?range=30d', '[aria-label=Calls] tbody tr')],
  feedback: [at('/feedback?range=30d&type=rating&path=stars', '.chart canvas')],
  queues: [at('/queues', 'progress')],
  queue: [
    {
      path: ({ queue }) => `/queues/${queue}`,
      sign: '.rate .shown',
      prepare: async (page) => {
        await press('Rules: none')(page)
        await press('Agreement')(page)
      },
    },
  ],
  evaluations: [at('/evaluations', '.grid a'), at('/evaluations?board=1', '.grid a')],
  evaluation: [{ path: ({ runs }) => `/evaluations/${runs[0]}`, sign: '.figure' }],
  compare: [
    {
      path: ({ runs }) => `/evaluations/compare?runs=${runs.join(',')}`,
      sign: '.compared',
      prepare: (page) =>
        page.getByRole('table', { name: 'Examples' }).getByRole('button').last().click(),
    },
  ],
  'new-evaluation': [at('/evaluations/new', '.version-list select', press('New scorer'))],
  leaderboard: [at('/leaderboards/none', 'main h1')],
  evaluators: [at('/evaluators', 'main form', press('short-answer'))],
  objects: [
    at('/objects', '.grid a'),
    at('/datasets?new=dataset', 'main textarea'),
    at('/prompts?new=prompt', 'main textarea'),
  ],
  object: [
    at('/objects/support-questions', '.content .grid'),
    at('/objects/support-questions/versions/v1?against=v0', '.content'),
    at(
      '/objects/support-questions/versions/latest?edit=1',
      '[aria-label="Rows to edit"] button',
      (page) => page.getByTitle('Change the row').first().click(),
    ),
    at('/ops/support_agent/versions/v1', '.content'),
  ],
  playground: [
    at('/playground?model=tiny', '.pane select', async (page) => {
      await page.getByLabel('Message', { exact: true }).fill('Name an animal.')
      await press('Send')(page)
      await page.getByText(/complete after/).waitFor()
    }),
  ],
  training: [
    at('/training', '.chart canvas'),
    { path: ({ job }) => `/training/${job}`, sign: '[aria-label=Events]' },
    at('/training/new?reward=training-loop%20payload.score', '[aria-label=Groups] tbody tr'),
  ],
  alerts: [at('/alerts', '[aria-label=Alerts] tbody tr', press('Many errors'))],
  settings: [at('/settings', 'main form')],
  server: [
    at('/keys', '[aria-label=Keys]', press('Name, end, models and limits')),
    at('/people', 'main form'),
    at('/budgets', 'main h1'),
    at('/audit', 'main table'),
    at('/models', '[aria-label=Models] tbody tr'),
    at('/account', 'main h1'),
  ],
  projects: [at('/', '[aria-label=Projects] tbody tr')],
  unknown: [at('/nothing/here', 'main h1')],
}
const VIEW_MS = 240_000
const OF_SERVER = /^\/(keys|people|budgets|audit|models|account)?$/

describe.skipIf(!hasBrowser)('each view, filled', () => {
  const demo = useDemoProject()

  it.each(Object.entries(VIEWS))(
    '%s has no barriers, and fits the window',
    async (_name, all) => {
      const { filled, openTab } = demo()
      for (const { path, sign, prepare } of all) {
        const shown = path(filled)
        const page = await openTab(OF_SERVER.test(shown) ? shown : `/demo/shop/weave${shown}`)
        await page.locator(sign).first().waitFor()
        await prepare?.(page)
        for (const width of [1440, 390]) {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.setViewportSize({ width, height: 900 })
            await page.emulateMedia({ colorScheme })
            const seen = [shown, width, colorScheme] as const
            expect([...seen, await findBarriers(page)]).toEqual([...seen, []])
          }
          const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          expect([shown, width, over]).toEqual([shown, width, 0])
        }
      }
      // Several pages, each in two widths and schemes.
    },
    VIEW_MS,
  )
})
