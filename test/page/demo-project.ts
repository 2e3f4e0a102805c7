/** The project of the demo on a server of its own, for tests that look at it and add to it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { createDemoApi, type DemoApi } from '../../src/demo/demo-api.ts'
import { type Filled, fillDemo } from '../../src/demo/fill.ts'
import { type SpawnedServer, startServer, TEST_KEY } from '../support/spawn-server.ts'
import { hasBrowser, openTab } from './browser.ts'

const PROJECT = 'demo/shop'
const FILL_MS = 240_000

interface DemoProject {
  readonly filled: Filled
  readonly api: DemoApi
  /** A path of the server in a tab of its own. Default: the project's first view, complete. */
  openTab(path?: string): Promise<Page>
}

/** Fills it once for all tests of a file. */
export function useDemoProject(): () => DemoProject {
  let server: SpawnedServer | null = null
  let project: DemoProject | null = null
  const folder = mkdtempSync(join(tmpdir(), 'weft-test-'))
  beforeAll(async () => {
    if (!hasBrowser) return
    server = await startServer({ WEFT_DATA_DIR: folder, WEFT_TRAINER: 'on' })
    const target = { url: server.url, key: TEST_KEY, project: PROJECT }
    const filled = await fillDemo({ ...target, jobs: 1, rollouts: 4, report: () => undefined })
    project = {
      filled,
      api: createDemoApi(target),
      async openTab(path) {
        const page = await openTab()
        await page.goto(`${target.url}${path ?? `/${PROJECT}/weave`}#key=${TEST_KEY}`)
        if (path === undefined) await page.getByRole('table', { name: 'Top models' }).waitFor()
        return page
      },
    }
    // The machine may do other work.
  }, FILL_MS)
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    if (project === null) throw new Error('the demo is filled before the tests')
    return project
  }
}
