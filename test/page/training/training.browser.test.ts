import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createModel, JOBS_URL, jobOf } from '../../training/preview-fixtures.ts'
import { claim, createJobs, finish, report } from '../../training/worker-fixtures.ts'
import { findBarriers, hasBrowser, MARKUP, openPage, PROJECT, recordCalls } from '../browser.ts'

/** Chats of one task, each rated. */
async function recordRatedChats(test: Awaited<ReturnType<typeof openPage>>, content: string) {
  const chat = (id: string) => ({
    id,
    op_name: 'openai.chat.completions.create',
    inputs: { model: 'owl', messages: [{ role: 'user', content }] },
    output: {
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content },
          logprobs: { content: [{ token: 'token_id:7', logprob: -0.5 }] },
        },
      ],
    },
  })
  await recordCalls(test, ['a', 'b', 'c', 'd'].map(chat))
  const batch = ['a', 'b', 'c', 'd'].map((id, at) => ({
    project_id: PROJECT,
    weave_ref: `weave:///${PROJECT}/call/${id}`,
    feedback_type: 'owls',
    payload: { [content]: 1, score: at / 4 },
  }))
  const { body } = await test.post('/traces/feedback/batch/create', { batch })
  expect(body.errors).toEqual([])
}

async function textsOf(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).allTextContents()
}

describe.skipIf(!hasBrowser)('training on the page', () => {
  it('starts a job from calls, shows before what is sent, and cancels it', async () => {
    const test = await openPage()
    const { page, url, key, complaints, get } = test
    await recordRatedChats(test, MARKUP)
    await createModel(test, { name: 'owl' })
    await page.goto(`${url}/acme/demo/weave/calls?op=openai#key=${key}`)
    await page.getByText('Train on these').click()
    await page.getByLabel('Prompts held out').fill('0')
    await page.getByText('4 rollouts in 1 group').waitFor()
    await expect
      .poll(() => textsOf(page, '[aria-label=Groups] tbody td.number'))
      .toEqual([...['4', '0', '0.375', '0.75']])
    await page.getByLabel('Search calls').fill('op:nothing')
    await page.getByText('0 rollouts').waitFor()
    await expect.poll(() => page.getByText('Start the job').isDisabled()).toBe(true)
    await page.getByLabel('Search calls').fill('')
    await page.getByText('4 rollouts in 1 group').waitFor()
    await page.getByText('Start the job').click()
    await page.getByText('Training job', { exact: true }).waitFor()
    const { data } = (await get('/v1/preview/training-jobs')).body
    expect(data).toMatchObject([{ status: 'queued', trajectory_count: 4, trainable_count: 4 }])
    expect(await findBarriers(page)).toEqual([])
    await page.getByText('Cancel the job').click()
    await page.locator('.status', { hasText: 'cancelled' }).waitFor()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('creates a model if there is none, and says when nothing is rated', async () => {
    const test = await openPage()
    const { page, url, key, get } = test
    await page.goto(`${url}/acme/demo/weave/training#key=${key}`)
    await page.getByText('Create a job from calls').click()
    await page.getByText('no feedback with a number or a thumb').waitFor()
    await recordRatedChats(test, 'Why?')
    await page.reload()
    await page.getByLabel('Prompts held out').fill('0')
    await page.getByLabel('Responses of').fill('owl')
    await page.getByText('4 rollouts in 1 group').waitFor()
    await page.getByLabel('Name of the new model').fill('fresh')
    // The answer is lost twice: the same job is made once, and a changed one is another.
    await page.route('**/v1/preview/training-jobs/from-calls', async (route) => {
      if (!route.request().postDataJSON().start) return route.continue()
      await route.fetch()
      await route.abort()
    })
    for (let times = 0; times < 2; times++) {
      await page.getByText('Start the job').click()
      await page.getByText('sending …').waitFor({ state: 'detached' })
      await page.getByText('The server does not answer.').waitFor()
    }
    await page.unroute('**/v1/preview/training-jobs/from-calls')
    for (let times = 0; times < 2; times++) await page.getByText('Add a reward').click()
    for (const number of [2, 2]) {
      await page.getByRole('button', { name: `Remove reward ${number}` }).press('Enter')
      await page.locator('.reward select:focus').waitFor()
    }
    await page.getByText('4 rollouts in 1 group').waitFor()
    await page.getByLabel('Learning rate').fill('0.001')
    await page.getByText('Start the job').click()
    await page.getByText('Training job', { exact: true }).waitFor()
    expect((await get('/v1/preview/models')).body.data).toMatchObject([{ name: 'fresh' }])
    expect((await get('/v1/preview/training-jobs')).body.data).toHaveLength(2)
  })

  it('draws curves over steps, and lets a step be tried', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const { jobs } = await createJobs(test, 3, { name: 'owl' })
    await page.goto(`${url}/acme/demo/weave/training#key=${key}`)
    await page.getByText('None yet: owl answers as tiny.').waitFor()
    for (const at of [0, 1]) {
      const claimed = await claim(test)
      const numbers = { loss: 0.5 - at / 4, grad_norm: 2, [MARKUP]: 1 }
      const events = [0, 1].map((seq) => ({ seq, type: 'gradient_step', data: numbers }))
      await report(test, claimed, 'events', { events })
      await finish(test, claimed)
    }
    // The third waits; what the others made comes without a click.
    await expect
      .poll(() => textsOf(page, '[aria-label=Checkpoints] tbody tr td:first-child'))
      .toEqual(['2', '1', '0'])
    await page.getByRole('slider', { name: /^reward: reward up to 1/ }).waitFor()
    await expect
      .poll(() => textsOf(page, '[aria-label=Jobs] .status'))
      .toEqual(
        [...['queued', 'succeeded', 'succeeded']].map((state) => expect.stringContaining(state)),
      )
    expect(await findBarriers(page)).toEqual([])
    const error = { code: 'bad_data', message: MARKUP }
    await report(test, await claim(test), 'fail', { error, retryable: false })
    await page.locator('[aria-label=Jobs] td', { hasText: MARKUP }).waitFor()
    await page.goto(`${url}/acme/demo/weave/training?model=none`)
    await page.getByText('may have been deleted').waitFor()
    await page.goto(`${url}/acme/demo/weave/training/${jobs[2]}`)
    await page.getByRole('alert').getByText(MARKUP).waitFor()
    await page.goto(`${url}/acme/demo/weave/training/${jobs[0]}`)
    await page.getByRole('slider', { name: /^loss: loss up to 0.5/ }).waitFor()
    await expect
      .poll(() => textsOf(page, '[aria-label=Events] tbody td:nth-child(2)'))
      .toEqual([...['training_started', 'gradient_step', 'gradient_step', 'training_ended']])
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    await page.getByText('try this step').click()
    await expect.poll(() => page.getByLabel('Model').inputValue()).toBe('owl:step1')
    expect(complaints).toEqual([])
  })

  it('draws the curves of a running job further as its steps arrive', async () => {
    const test = await openPage()
    const { page, url, key, complaints } = test
    const { jobs } = await createJobs(test, 1, { name: 'owl' })
    await page.goto(`${url}/acme/demo/weave/training/${jobs[0]}#key=${key}`)
    await page.getByText('live').waitFor()
    const claimed = await claim(test)
    const curve = (name: string) => page.getByRole('slider', { name: new RegExp(`^${name}: `) })
    for (const seq of [0, 1, 2]) {
      const events = [{ seq, type: 'gradient_step', data: { reward: seq / 2, loss: 3 - seq } }]
      await report(test, claimed, 'events', { events })
      for (const name of ['reward', 'loss'])
        await expect.poll(() => curve(name).getAttribute('aria-valuemax')).toBe(String(seq))
    }
    expect(await curve('reward').getAttribute('aria-valuetext')).toBe('gradient step 3: reward 1')
    expect(complaints).toEqual([])
  })

  it('shows a long queue whole, and asks again only for its two ends and one page between', async () => {
    const test = await openPage()
    const { page, url, key } = test
    const { model_id, jobs } = await createJobs(test, 310, { name: 'owl' })
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.endsWith('/training-jobs')) asked.push(search)
    })
    await page.goto(`${url}/acme/demo/weave/training#key=${key}`)
    await page.getByText('290 more').click()
    const states = page.locator('[aria-label=Jobs] .status')
    await expect.poll(() => states.count()).toBe(310)
    await claim(test)
    await expect.poll(() => states.last().textContent()).toMatch(/running/)
    const newer = jobOf(model_id)
    expect((await test.post(JOBS_URL, newer)).status).toBe(200)
    await expect.poll(() => states.count()).toBe(311)
    const between = [150, 205]
    for (const at of between) await test.post(`${JOBS_URL}/${jobs[310 - at]}/cancel`, {})
    for (const at of between)
      await expect.poll(() => states.nth(at).textContent()).toMatch(/cancelled/)
    // Besides the first look at all of it.
    asked.splice(0, 4)
    const looks = asked.filter((search) => search.includes('order=desc&after=&')).length
    expect(asked.length).toBeLessThanOrEqual(3 * looks)
  })

  it('opens on feedback that rewards rollouts, even if other feedback is more', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordRatedChats(test, 'Why?')
    await recordCalls(test, [{ id: 'no-chat' }])
    const batch = Array.from({ length: 9 }, (_, at) => ({
      project_id: PROJECT,
      weave_ref: `weave:///${PROJECT}/call/no-chat`,
      feedback_type: 'stars',
      payload: { stars: at },
    }))
    await test.post('/traces/feedback/batch/create', { batch })
    await page.goto(`${url}/acme/demo/weave/training/new#key=${key}`)
    await page.getByLabel('Prompts held out').fill('0')
    await page.getByLabel('Responses of').fill('owl')
    await page.getByText('4 rollouts in 1 group').waitFor()
    expect(await page.getByRole('combobox', { name: 'Feedback' }).inputValue()).toContain('owls')
  })

  it('takes the reward of a link, also when no recent feedback has it, and never another one', async () => {
    const test = await openPage()
    const { page, url, key } = test
    await recordRatedChats(test, 'Why?')
    await createModel(test, { name: 'owl' })
    const form = `${url}/${PROJECT}/weave/training/new`
    await page.goto(`${form}?reward=older%20payload.score#key=${key}`)
    const feedback = page.getByRole('combobox', { name: 'Feedback' })
    await expect.poll(() => feedback.inputValue()).toBe('older payload.score')
    await page.getByText('4 with no feedback with the reward').waitFor()
    const bottoms = await page
      .locator('.reward select, .reward + button')
      .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().bottom)))
    expect([bottoms.length, new Set(bottoms).size]).toEqual([3, 1])
    await page.goto(`${form}?reward=none`)
    await page.getByText('“none” names no feedback').waitFor()
    expect(await page.getByText('Start the job').isDisabled()).toBe(true)
    await page.getByLabel('Prompts held out').fill('0')
    await feedback.selectOption('owls payload.score')
    await page.getByText('4 rollouts in 1 group').waitFor()
  })

  it('waits for the first step of a control only while a job is to make it', async () => {
    const test = await openPage()
    const { page, url, key, post } = test
    const scorer = { kind: 'rule', rule: { type: 'contains', texts: ['owl'] } }
    await post('/evaluators', { project_id: PROJECT, name: 'owls', scorer })
    const { jobs } = await createJobs(test, 1, { name: 'owl' })
    await finish(test, await claim(test))
    await createJobs(test, 1, { name: 'owl-control' })
    // As if it had been made from calls.
    await page.route(`**${JOBS_URL}/${jobs[0]}`, async (route) => {
      const response = await route.fetch()
      const source = { project_id: PROJECT, held_out: 0.2 }
      await route.fulfill({ response, json: { ...(await response.json()), source } })
    })
    await page.goto(`${url}/${PROJECT}/weave/training/${jobs[0]}#key=${key}`)
    const form = page.getByRole('form', { name: 'Comparison' })
    await form.getByText('The control is not trained yet.').waitFor()
    const error = { code: 'bad_data', message: 'Nothing to train on.' }
    await report(test, await claim(test), 'fail', { error, retryable: false })
    await form.getByText('The control is not trained yet.').waitFor({ state: 'detached' })
    await form.getByText('Compare on held-out prompts').waitFor()
  })

  it('says what a key lacks', async () => {
    const { page, url, createKey } = await openPage()
    const key = await createKey({ scopes: ['traces:read'] })
    await page.goto(`${url}/acme/demo/weave/training#key=${key}`)
    await page.getByText('lacks the scope training').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Keys' }).count()).toBe(0)
  })

  it('goes back by one model when the button is clicked twice', async () => {
    const test = await openPage()
    const { page, url, key, app, get } = test
    await recordCalls(test, [{ id: 'a' }])
    await createModel(test, { name: 'owl' })
    for (const target of ['tiny', 'owl:step0', 'tiny']) {
      const payload = { project_id: PROJECT, target }
      const headers = { authorization: `Bearer ${key}` }
      const { statusCode } = await app.inject({
        method: 'PUT',
        url: '/v1/preview/aliases/helper',
        payload,
        headers,
      })
      expect(statusCode).toBe(200)
    }
    await page.goto(`${url}/${PROJECT}/weave/training/served#key=${key}`)
    await page.getByText('Go back to owl:step0').dblclick()
    await page.getByText('helper serves owl:step0 again.').waitFor()
    const { aliases } = (await get(`/v1/preview/aliases?project_id=${PROJECT}`)).body
    expect(aliases).toMatchObject([{ target: 'owl:step0', earlier: ['tiny'] }])
  })
})
