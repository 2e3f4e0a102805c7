/** The whole loop by clicks: traffic is scored and rated, a model is trained, compared on held-out prompts, served, and taken back. */
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { spawnServer, TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { findBarriers, hasBrowser, openTab } from '../browser.ts'

const PROJECT = 'demo/zoo'
const FORMS = [
  'Name a # animal.',
  'Tell me a # animal.',
  'Give me a # animal.',
  'A # animal, please.',
]
const KINDS = ['small', 'big', 'forest', 'farm', 'wild', 'brown', 'grey', 'happy', 'old', 'young']
const PROMPTS = FORMS.flatMap((form) => KINDS.map((kind) => form.replace('#', kind)))
/** Responses to each prompt. */
const SAMPLES = 6
const AT_ONCE = 8
const PATTERN = String.raw`\b(owl|bee|duck|hen|bird|bat|fly|crow)s?\b`
const SLOW = { timeout: 60_000 }
const LONG = { timeout: 180_000 }

interface Traffic {
  readonly url: string
  readonly model: string
  readonly samples: number
}

/** What the users of this made-up service ask for, by the name that they know. */
async function serveTraffic({ url, model, samples }: Traffic): Promise<void> {
  const waiting = PROMPTS.flatMap((prompt) => Array<string>(samples).fill(prompt)).entries()
  const serve = async () => {
    for (const [seed, content] of waiting) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TEST_KEY}`,
          'content-type': 'application/json',
          'openai-project': PROJECT,
        },
        body: JSON.stringify({
          model,
          messages: [{ role: 'user', content }],
          max_tokens: 6,
          logprobs: true,
          return_token_ids: true,
          seed,
          user: `user-${seed % 40}`,
        }),
      })
      expect(response.status, await response.text()).toBe(200)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, serve))
}

async function addEvaluator(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Evaluators' }).click()
  const form = page.getByRole('form', { name: 'New evaluator' })
  await form.getByLabel('Name', { exact: true }).fill('flies')
  await form.getByLabel('Operations').fill('chat.completions')
  await form.getByLabel('Scorer').selectOption('regex')
  await form.getByLabel('Path').fill('$.output.choices[0].message.content')
  await form.getByLabel('Pattern').fill(PATTERN)
  await form.getByText('Add evaluator').click()
  await page.locator('[aria-label=Evaluators] tbody tr').waitFor()
}

/** Rates some calls by the keyboard: a thumb up for what flies, down for the others. */
async function rateSome(page: Page, count: number): Promise<void> {
  await page.getByRole('link', { name: 'Traces' }).click()
  await page.getByText('Add to a queue').click()
  await page.getByLabel('Its name').fill('doubtful')
  await page.getByText('Add', { exact: true }).click()
  await page.getByText('rate them').click()
  for (let rated = 0; rated < count; rated++) {
    await page.getByText(`${rated} of `).first().waitFor()
    const rating = page.locator('.rate')
    await rating.waitFor()
    const [, output = ''] = (await page.locator('main').innerText()).split('Output')
    const flies = new RegExp(PATTERN, 'iu').test(output)
    await page.keyboard.press(flies ? '+' : '-')
    await expect.poll(() => page.getByText('Nothing is given yet.').count()).toBe(0)
    await page.keyboard.press('Enter')
  }
  await page.getByText(`${count} of `).first().waitFor()
}

it.skipIf(!hasBrowser)(
  'trains a model from its own rated traffic, shows the difference on held-out prompts beside a control, serves it, and goes back',
  { timeout: 600_000 },
  async () => {
    const { url } = await spawnServer({ WEFT_DATA_DIR: makeTempDir(), WEFT_TRAINER: 'on' })
    const page = await openTab()
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => complaints.push(message))
    await page.goto(`${url}/${PROJECT}/weave#key=${TEST_KEY}`)
    await addEvaluator(page)

    await page.getByRole('link', { name: 'Training' }).click()
    await page.getByRole('link', { name: 'Served names' }).click()
    const names = page.getByRole('form', { name: 'Name' })
    await names.getByLabel('Name', { exact: true }).fill('zoo')
    await names.getByLabel('Serves').fill('tiny')
    await names.getByText('Serve', { exact: true }).click()
    await page.getByText('Serves tiny').waitFor()
    await serveTraffic({ url, model: 'zoo', samples: SAMPLES })
    await rateSome(page, 6)

    await page.getByRole('link', { name: 'Training' }).click()
    await page.getByText('Create a job from calls').click()
    await page
      .getByRole('combobox', { name: 'Feedback' })
      .selectOption('wandb.runnable.flies payload.output.passed')
    await page.getByText('Add a reward').click()
    await page.getByLabel('Weight 2').fill('0.5')
    await page.getByLabel('Where there is none 2').fill('0')
    await page.getByLabel('Prompts held out').fill('30')
    await page.getByLabel('Name of the new model').fill('flyers')
    await page.getByLabel('Learning rate').fill('0.02')
    await page.getByLabel('train a control').check()
    await expect
      .poll(() => page.locator('[aria-label=Groups] tbody tr').count(), SLOW)
      .toBeGreaterThan(5)
    await page.getByText(/groups with .* held out/).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('Start the job').click()
    await page.locator('.status', { hasText: 'succeeded' }).waitFor(SLOW)

    const form = page.getByRole('form', { name: 'Comparison' })
    await form.getByLabel('and the control').waitFor(SLOW)
    await form.getByLabel('Tokens at most').fill('6')
    await form.getByText('Compare on held-out prompts').click()
    const compared = page.locator('[aria-label=Comparison] tbody tr')
    await expect.poll(() => compared.count(), LONG).toBe(3)
    await page.getByText('flyers:step1 is better than flyers:step0 on held-out prompts.').waitFor()
    await page.getByText('The control on shuffled rewards did not get better.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await compared.nth(1).getByText('serve by zoo').click()
    await page.getByText('served by zoo').waitFor()
    // The buttons of one model follow what the name serves, whoever changed it.
    await compared.nth(0).getByText('serve by zoo').click()
    await compared.nth(1).getByText('serve by zoo').waitFor()
    await compared.nth(0).getByText('back to flyers:step1').click()
    await compared.nth(1).getByText('back to tiny').click()
    await compared.nth(1).getByText('serve by zoo').waitFor()

    await compared.nth(1).getByText('more …').click()
    const served = page.getByRole('region', { name: 'zoo' })
    await served.getByLabel('Share in %').fill('50')
    await served.getByText('Give flyers:step1 this share').click()
    await served.getByText('to 50 % of the users').waitFor()
    await serveTraffic({ url, model: 'zoo', samples: 2 })
    const arms = served.locator('[aria-label="Both models"] tbody tr')
    const scores = arms.filter({ hasText: 'flies' })
    await expect
      .poll(async () => {
        await served.getByText('Refresh').click()
        return (await scores.textContent({ timeout: 2_000 }).catch(() => '')) ?? ''
      }, SLOW)
      .toMatch(/\+0\.\d+ \[\+0\.\d+, \+\d/)
    expect(await arms.filter({ hasText: 'Models' }).textContent()).toMatch(/tiny.*flyers:step1/)
    expect(await findBarriers(page)).toEqual([])
    await served.getByText('Serve flyers:step1 to all').click()
    await served.getByText('Go back to tiny').click()
    await page.getByText('zoo serves tiny again.').waitFor()
    expect(complaints).toEqual([])
  },
)
