/** A real browser for the page. Where none is installed, the tests that need it are reported as skipped. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { Config } from '../../src/config.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

/** The first that is installed: the same engine without the windows needs half of the processor time. */
const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath = BROWSERS.find((path) => existsSync(path))

export const hasBrowser = executablePath !== undefined

let launched: Promise<Browser> | null = null

/** A tab with storage of its own, gone when the test ends. One browser serves all tests of a process, and ends with it. */
export async function openTab(viewport = { width: 1280, height: 800 }): Promise<Page> {
  launched ??= chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const context = await (await launched).newContext({ viewport })
  onTestFinished(() => context.close())
  return context.newPage()
}

export interface OpenPage extends TestApp {
  readonly url: string
  readonly page: Page
  /** What the page complained of. */
  readonly complaints: string[]
}

/**
 * A server with the page of its own in a browser, not signed in.
 *
 * @param overrides - settings; with some, the server has served no other test
 */
export async function openPage(overrides: Partial<Config> = {}): Promise<OpenPage> {
  const test = await buildTestApp(overrides)
  await test.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = test.app.server.address() as AddressInfo
  const page = await openTab()
  const complaints: string[] = []
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 40[13]/.test(message.text()))
      complaints.push(message.text())
  })
  return { ...test, url: `http://127.0.0.1:${port}`, page, complaints }
}

export const PROJECT = 'acme/demo'

/** In every field that the page shows. */
export const MARKUP = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>'

/** Lesser problems that every view is free of. */
const OF_HEADINGS_AND_ROLES = ['page-has-heading-one', 'aria-allowed-role']

/** Serious accessibility problems of a page, and those of its headings and roles. */
export async function findBarriers(page: Page): Promise<string[]> {
  const file = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  await page.evaluate(await readFile(file, 'utf8'))
  // Colours on their way to others have another contrast.
  await page.evaluate(
    `Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))`,
  )
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || ${JSON.stringify(OF_HEADINGS_AND_ROLES)}.includes(id)).map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  )
}

interface Ended {
  readonly id: string
  readonly parent_id?: string
  readonly thread_id?: string
  readonly turn_id?: string
  readonly op_name?: string
  readonly started_at_ms?: number
  readonly lasted_ms?: number
  readonly attributes?: object
  readonly inputs?: object
  readonly output?: unknown
  readonly exception?: string
  readonly summary?: object
}

/** Records calls that have ended, all in one trace. */
export async function recordCalls({ post }: TestApp, calls: readonly Ended[]): Promise<void> {
  const batch = calls.flatMap(({ started_at_ms = Date.now() - 60_000, output = null, ...call }) => {
    const { id, parent_id = null, op_name = 'answer', inputs = {}, exception = null } = call
    const { thread_id = null, turn_id = null, summary = {}, lasted_ms = 1000 } = call
    const { attributes = {} } = call
    const named = { project_id: PROJECT, id }
    const started_at = new Date(started_at_ms).toISOString()
    const ended_at = new Date(started_at_ms + lasted_ms).toISOString()
    return [
      {
        mode: 'start',
        req: {
          start: {
            ...named,
            trace_id: 'trace',
            parent_id,
            thread_id,
            turn_id,
            op_name,
            inputs,
            started_at,
            attributes,
          },
        },
      },
      { mode: 'end', req: { end: { ...named, ended_at, output, exception, summary } } },
    ]
  })
  const { status, text } = await post('/call/upsert_batch', { batch })
  if (status !== 200) throw new Error(text)
}
