/** The views of which pictures are taken, by their addresses in the project of the demo. */
import type { Page } from 'playwright-core'
import { type Pictured, PROJECT } from './project.ts'

export interface View {
  readonly name: string
  readonly path: (filled: Pictured) => string
  /** Seen when the view is there. */
  readonly sign: string
  /** What is done in the view before. */
  readonly prepare?: (page: Page) => Promise<void>
}

const home = `/${PROJECT}/weave`
/** The list with a column of tags. */
const TAGGED = 'cols=started,op,status,latency,tokens,cost,tags,inputs,output'

/** The views that the docs show. */
export const VIEWS: readonly View[] = [
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
    path: () => `${home}/training/new?all=1&reward=training-loop%20payload.score`,
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

/** Views that the docs do not show; they are taken with all others by `--all`. */
export const OTHERS: readonly View[] = [
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
  { name: 'threads', path: () => `${home}/threads?range=30d`, sign: 'tbody tr' },
  { name: 'queues', path: () => `${home}/queues`, sign: 'main a' },
  {
    name: 'agreement',
    path: ({ queue }) => `${home}/queues/${queue}`,
    sign: '.rate .shown',
    prepare: async (page) => {
      await page.getByText('Agreement', { exact: true }).click()
      await page.locator('[aria-label=Agreement]').first().waitFor()
      await page.locator('[aria-label=Agreement]').first().scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'drawer',
    path: ({ agentCall }) => `${home}/calls?open=${agentCall}`,
    sign: 'dialog .trace-row',
  },
  { name: 'selection', path: () => `${home}/calls?${TAGGED}`, sign: '.row.call', prepare: openTag },
  {
    name: 'compare-calls',
    path: ({ tagged }) => `${home}/calls?compare=${tagged.slice(0, 2).join(',')}`,
    sign: 'dialog table',
  },
  { name: 'run', path: ({ runs }) => `${home}/evaluations/${runs[0]}`, sign: '.figure' },
  {
    name: 'leaderboard',
    path: () => `${home}/evaluations`,
    sign: '.grid a',
    prepare: async (page) => page.getByLabel('leaderboard').check(),
  },
  { name: 'evaluators', path: () => `${home}/evaluators`, sign: 'tbody tr' },
  {
    name: 'evaluator',
    path: () => `${home}/evaluators`,
    sign: 'tbody tr',
    prepare: async (page) => page.locator('tbody a').first().click(),
  },
  { name: 'alerts', path: () => `${home}/alerts`, sign: 'tbody tr' },
  {
    name: 'alert',
    path: () => `${home}/alerts`,
    sign: 'tbody tr',
    prepare: async (page) => page.locator('tbody a').first().click(),
  },
  { name: 'datasets', path: () => `${home}/datasets`, sign: '.grid a' },
  { name: 'prompts', path: () => `${home}/prompts`, sign: '.grid a' },
  { name: 'objects', path: () => `${home}/objects`, sign: '.grid a' },
  {
    name: 'prompt',
    path: () => `${home}/objects/support-answer/versions/latest`,
    sign: '.content',
  },
  { name: 'ops', path: () => `${home}/ops`, sign: '.grid a' },
  { name: 'settings', path: () => `${home}/settings`, sign: 'main form, main .card' },
  { name: 'people', path: () => '/people', sign: '[aria-label=People] tbody tr' },
  { name: 'budgets', path: () => '/budgets', sign: '[aria-label=Budgets] tbody tr' },
  { name: 'audit', path: () => '/audit', sign: '[aria-label=Audit] tbody tr' },
  { name: 'account', path: () => '/account', sign: 'h1' },
  { name: 'projects', path: () => '/', sign: 'main' },
  { name: 'unknown', path: () => `${home}/none`, sign: 'h1' },
  { name: 'empty', path: () => '/demo/new/weave', sign: '.first' },
  { name: 'empty-calls', path: () => '/demo/new/weave/calls', sign: '.notice' },
  { name: 'empty-evaluations', path: () => '/demo/new/weave/evaluations', sign: '.first' },
  { name: 'empty-datasets', path: () => '/demo/new/weave/datasets', sign: '.first' },
  { name: 'empty-training', path: () => '/demo/new/weave/training', sign: 'main .first' },
  { name: 'empty-queues', path: () => '/demo/new/weave/queues', sign: 'h1' },
  {
    name: 'palette',
    path: () => `${home}?range=30d`,
    sign: '.chart canvas',
    prepare: async (page) => page.keyboard.press('Control+k'),
  },
  {
    name: 'keyboard',
    path: () => `${home}?range=30d`,
    sign: '.chart canvas',
    prepare: async (page) => page.keyboard.press('?'),
  },
  {
    name: 'menu',
    path: () => `${home}/calls`,
    sign: '.row.call',
    prepare: async (page) => {
      const open = page.getByRole('button', { name: /menu|navigation/i })
      if (await open.isVisible()) await open.click()
    },
  },
]

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

async function openTag(page: Page): Promise<void> {
  for (const at of [0, 2, 3]) await page.locator('.row.call').nth(at).getByRole('checkbox').click()
  await page.locator('summary', { hasText: 'Tag' }).click()
}
