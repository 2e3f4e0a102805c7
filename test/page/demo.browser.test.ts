import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { toSmallPng } from '../../examples/small-png.ts'
import { fillDemo } from '../../src/demo/fill.ts'
import { INHERITED } from '../support/inherited.ts'
import { spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { hasBrowser, openTab } from './browser.ts'

const project = 'demo/shop'
const OWN_SERVER = new URL('../../src/demo/own-server.ts', import.meta.url).href

it('the server of the demo reads neither the models file nor the settings of its caller, and leaves no files', async () => {
  const folder = makeTempDir()
  const temporary = makeTempDir()
  const model = {
    id: 'far',
    backend: 'openai',
    base_url: 'http://127.0.0.1:9',
    api_key_env: 'NO_KEY',
  }
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ models: [model] }))
  const script = `
    const { startOwnServer } = await import(${JSON.stringify(OWN_SERVER)})
    const { url, key } = await startOwnServer()
    const authorization = 'Bearer ' + key
    const { data } = await (await fetch(url + '/v1/models', { headers: { authorization } })).json()
    process.stdout.write(data.map(({ id }) => id).join())
    process.exit(0)`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    {
      cwd: folder,
      env: {
        ...INHERITED,
        TMPDIR: temporary,
        WEFT_PORT: 'none',
        WEFT_MODELS_FILE: 'models.json',
      },
    },
  )
  expect(stdout).toBe('tiny')
  expect(readdirSync(temporary)).toEqual([])
})

it('the demo fills a project with everything that it announces', async () => {
  const { url } = await spawnServer({ WEFT_DATA_DIR: makeTempDir(), WEFT_TRAINER: 'on' })
  const told: string[] = []
  const filled = await fillDemo({
    url,
    key: TEST_KEY,
    project,
    jobs: 1,
    rollouts: 4,
    report: (line) => told.push(line),
  })
  expect(told).toHaveLength(6)
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  const ask = async (path: string, body?: object): Promise<any> => {
    const basic = `Basic ${Buffer.from(`api:${TEST_KEY}`).toString('base64')}`
    const response = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: path.startsWith('/v1') ? `Bearer ${TEST_KEY}` : basic,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return response.json()
  }
  const count = async (filter: object) =>
    (await ask('/calls/query_stats', { project_id: project, filter })).count
  // The answers of the training loop are calls, too; the job is made of them.
  // A call is recorded a moment after it was answered.
  await expect
    .poll(() => count({ trace_roots_only: true }))
    .toBe(filled.traces + filled.runs.length + 8)
  expect(await count({ thread_ids: [filled.thread] })).toBeGreaterThan(3)
  const { call } = await ask('/call/read', { project_id: project, id: filled.agentCall })
  expect(call).toMatchObject({ exception: null, op_name: expect.stringContaining('support_agent') })
  const newest = await ask('/calls/stream_query', {
    project_id: project,
    filter: { trace_roots_only: true },
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    columns: ['op_name'],
    limit: 1,
  })
  expect(newest.op_name).toContain('support_agent')
  const now = Date.now()
  const stats = await ask('/calls/stats', {
    project_id: project,
    start: new Date(now - 30 * 86_400_000).toISOString(),
    end: new Date(now).toISOString(),
    granularity: 30 * 86_400,
    call_metrics: [{ metric: 'error_count' }],
    usage_metrics: [{ metric: 'total_cost' }],
  })
  const models = stats.usage_buckets.filter(
    (bucket: { sum_total_cost: number }) => bucket.sum_total_cost > 0,
  )
  expect(new Set(models.map(({ model }: { model: string }) => model)).size).toBeGreaterThanOrEqual(
    3,
  )
  const errors = stats.call_buckets.map(
    (bucket: { sum_error_count: number }) => bucket.sum_error_count,
  )
  expect(Math.max(...errors)).toBeGreaterThan(10)
  const runs = await Promise.all(
    filled.runs.map((id) => ask('/call/read', { project_id: project, id })),
  )
  expect(runs.map(({ call }) => Object.keys(call.output))).toEqual(
    Array(3).fill(expect.arrayContaining(['intent_match', 'helpfulness', 'model_latency'])),
  )
  const alerts = await ask(`/v1/alerts?project_id=${encodeURIComponent(project)}`)
  expect(alerts.data).toMatchObject([{ name: 'Many errors', error: null }])
  // Each turn of the agent is scored as it arrives.
  await expect
    .poll(async () => (await ask('/evaluators/query', { project_id: project })).evaluators, {
      timeout: 30_000,
    })
    .toMatchObject([
      {
        name: 'short-answer',
        waiting: 0,
        failed: 0,
        scored: expect.toSatisfy((count: number) => count > 300),
      },
    ])
  const job = await ask(`/v1/preview/training-jobs/${filled.job}`)
  expect(job).toMatchObject({ status: 'succeeded', trajectory_count: 4 })
})

it.skipIf(!hasBrowser)('a picture is made small and stays what it is', async () => {
  const page = await openTab({ width: 300, height: 120 })
  await page.setContent('<body style="background:#14161a;color:#eee"><h1>Weft</h1><hr><b>1,234</b>')
  const before = await page.screenshot()
  const after = toSmallPng(before)
  const urls = [before, after].map((png) => `data:image/png;base64,${png.toString('base64')}`)
  const differences = (await page.evaluate(`(async () => {
    const [left, right] = await Promise.all(${JSON.stringify(urls)}.map(async (url) => {
      const image = await createImageBitmap(await (await fetch(url)).blob())
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
      context.drawImage(image, 0, 0)
      return [...context.getImageData(0, 0, image.width, image.height).data]
    }))
    return left.map((value, at) => Math.abs(value - (right[at] ?? 999)))
  })()`)) as number[]
  expect(differences.length).toBe(300 * 120 * 4)
  expect(differences.reduce((most, value) => Math.max(most, value), 0)).toBeLessThan(24)
})
