/**
 * Pictures of the page's views for the docs, light and dark, of a demo project in a server of its own. Needs a
 * Chromium of the system, and a font with emoji.
 *
 * npm run screenshots
 * npm run screenshots -- --folder /tmp/shots --width 390 --only home,training
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createDemoApi } from '../src/demo/demo-api.ts'
import { type Filled, fillDemo } from '../src/demo/fill.ts'
import { startOwnServer } from '../src/demo/own-server.ts'
import { readArguments, readCount } from './script-arguments.ts'
import { toSmallPng } from './small-png.ts'

const PROJECT = 'demo/shop'
/** Until charts are drawn and live views have settled, after the sign was seen. */
const SETTLE_MS = 700

interface View {
  readonly name: string
  readonly path: (filled: Filled) => string
  /** Seen when the view is there. */
  readonly sign: string
  /** What is done in the view before. */
  readonly prepare?: (page: Page) => Promise<void>
}

const home = `/${PROJECT}/weave`

const VIEWS: readonly View[] = [
  { name: 'home', path: () => `${home}?range=30d`, sign: '.chart canvas' },
  { name: 'calls', path: () => `${home}/calls?op=support`, sign: '.row.call' },
  {
    name: 'trace',
    path: ({ agentCall }) => `${home}/calls/${agentCall}`,
    sign: 'text=Tokens, including descendants',
    prepare: selectChat,
  },
  { name: 'thread', path: ({ thread }) => `${home}/threads/${thread}`, sign: '.message' },
  {
    name: 'users',
    path: () => `${home}/users?range=30d`,
    sign: '[aria-label=Users] tbody tr',
  },
  {
    name: 'user',
    path: () => `${home}/users/hana?range=30d`,
    sign: '[aria-label=Calls] tbody tr',
  },
  {
    name: 'feedback',
    sign: '.chart canvas',
    path: () => `${home}/feedback?range=30d&type=rating&path=stars`,
  },
  { name: 'queue', path: ({ queue }) => `${home}/queues/${queue}`, sign: '.rate .shown' },
  { name: 'evaluations', path: () => `${home}/evaluations`, sign: '.grid a' },
  {
    name: 'compare',
    sign: '.compared',
    path: ({ runs }) => `${home}/evaluations/compare?runs=${runs.join(',')}`,
  },
  {
    name: 'dataset',
    sign: '.content .grid',
    path: () => `${home}/objects/support-questions/versions/v1`,
  },
  {
    name: 'dataset-edit',
    sign: '[aria-label="Rows to edit"] button',
    path: () => `${home}/objects/support-questions/versions/latest?edit=1`,
    prepare: changeRows,
  },
  {
    name: 'prompt-edit',
    sign: '.prompt-messages textarea',
    path: () => `${home}/objects/support-answer/versions/latest?edit=1`,
    prepare: changePrompt,
  },
  {
    name: 'prompt-playground',
    sign: '.tried-prompt textarea',
    path: () => `${home}/playground?prompt=support-answer:v1&model=tiny`,
    prepare: async (page) => page.getByLabel('question').fill('Is the blue teapot safe?'),
  },
  {
    name: 'new-evaluation',
    sign: '.version-list select',
    path: () => `${home}/evaluations/new`,
    prepare: async (page) => page.getByText('New scorer').click(),
  },
  { name: 'training', path: () => `${home}/training`, sign: '.chart canvas' },
  {
    name: 'training-job',
    path: ({ job }) => `${home}/training/${job}`,
    sign: '[aria-label=Events]',
  },
  {
    name: 'new-job',
    path: () => `${home}/training/new?reward=training-loop%20payload.score`,
    sign: '[aria-label=Groups] tbody tr',
  },
  {
    name: 'playground',
    path: () => `${home}/playground?model=owl`,
    sign: '.pane',
    prepare: askTwoModels,
  },
  { name: 'keys', path: () => '/keys', sign: '[aria-label=Keys] tbody tr' },
  { name: 'models', path: () => '/models', sign: '[aria-label=Models] tbody tr' },
]

const { values } = readArguments({
  options: {
    folder: { type: 'string', default: 'docs/screenshots' },
    width: { type: 'string', default: '1280' },
    height: { type: 'string', default: '720' },
    only: { type: 'string' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
})

const wanted = values.only?.split(',')
const { url, key } = await startOwnServer()
const filled = await fillDemo({
  url,
  key,
  project: PROJECT,
  jobs: 5,
  rollouts: 16,
  report: console.log,
})
const { send } = createDemoApi({ url, key, project: PROJECT })
for (const svc_user_id of ['ada', 'nightly-evaluation', 'gpu-worker']) {
  const scopes = svc_user_id === 'gpu-worker' ? ['worker'] : ['traces:read', 'traces:write']
  await send('/v1/keys', { svc_user_id, scopes, projects: ['demo/*'] })
}
const prompts = ['Answer kindly: {question}', 'Answer kindly, in two sentences at most: {question}']
for (const content of prompts) {
  const classes = { _type: 'MessagesPrompt', _class_name: 'MessagesPrompt' }
  const messages = [
    { role: 'system', content: 'You work in the support of a shop for cups and plates.' },
    { role: 'user', content },
  ]
  const val = { ...classes, _bases: ['Prompt', 'Object', 'BaseModel'], messages }
  await send('/obj/create', { obj: { project_id: PROJECT, object_id: 'support-answer', val } })
}
mkdirSync(values.folder, { recursive: true })
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ['--no-sandbox'],
})
for (const scheme of ['light', 'dark'] as const) {
  for (const view of VIEWS) {
    if (wanted !== undefined && !wanted.includes(view.name)) continue
    const png = toSmallPng(await takePicture(browser, view, scheme))
    const path = join(values.folder, `${view.name}-${scheme}.png`)
    writeFileSync(path, png)
    console.log(`${path} ${(png.length / 1000).toFixed(0)} kB`)
  }
}
await browser.close()
process.exit(0)

/** The last call of the model, whose messages are shown. */
async function selectChat(page: Page): Promise<void> {
  await page.getByText('openai.chat.completion').last().click()
  await page.locator('.message').first().waitFor()
}

/** A row that is removed, one that is added, and what the next version changes. */
async function changeRows(page: Page): Promise<void> {
  await page.getByTitle('Change the row').first().click()
  await page.getByText('Remove the row').click()
  await page
    .getByLabel('JSON (an object')
    .fill('question,expected\nWhere is my order?,It is on its way.')
  await page.getByText('Add 1 row').click()
  await page.getByText('Show what changes').click()
  await page.locator('.changes').first().waitFor()
}

/** A text with another variable, and how it differs. */
async function changePrompt(page: Page): Promise<void> {
  const field = page.getByLabel('Message 2', { exact: true })
  await field.fill('Answer {customer} kindly, in two sentences at most: {question}')
  await page.getByText('What changes since').click()
  await page.locator('.changes').waitFor()
}

/** The model that was trained here beside the one that it came from, with the probability of each token. */
async function askTwoModels(page: Page): Promise<void> {
  await page.getByLabel('temperature', { exact: true }).fill('0')
  await page.getByLabel('max_completion_tokens').fill('12')
  await page.getByLabel('logprobs', { exact: true }).selectOption('true')
  await page.getByLabel('top_logprobs').fill('3')
  await page.getByText('Compare with another model').click()
  await page.locator('.pane select').last().selectOption('tiny')
  await page.getByLabel('Message', { exact: true }).fill('Name an animal.')
  await page.getByText('Send', { exact: true }).click()
  await page.getByText('the recorded call').nth(1).waitFor()
  await page.evaluate('scrollTo(0, 0)')
}

async function takePicture(
  browser: Browser,
  { path, sign, prepare }: View,
  colorScheme: 'light' | 'dark',
): Promise<Buffer> {
  const viewport = { width: readCount(values.width), height: readCount(values.height) }
  const context = await browser.newContext({ viewport, colorScheme, timezoneId: 'UTC' })
  const page = await context.newPage()
  page.on('pageerror', ({ message }) => console.error(`${path(filled)}: ${message}`))
  await page.goto(`${url}${path(filled)}#key=${key}`)
  await page.locator(sign).first().waitFor()
  await prepare?.(page)
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const png = await page.screenshot()
  await context.close()
  return png
}
