/** docs/metrics.md lists exactly the metrics of the server. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { STARTED } from '../calls/call-fixtures.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { parseMetrics } from './support/parse-metrics.ts'

const PAGE = readFileSync('docs/metrics.md', 'utf8')
const ROW = /^\| `(weft_\w+)` \| (\w+) \|([^|]*)\| .+ \|$/gm

describe('docs/metrics.md', () => {
  it('has every metric with its type and its labels', async () => {
    const { get, post, key } = await buildTestApp({ dataDir: makeTempDir() })
    await post('/call/start', { start: STARTED })
    await post('/calls/stream_query', { project_id: 'acme/demo' })
    await post('/call/start', {})
    const messages = [{ role: 'user', content: 'Hi' }]
    await post('/v1/chat/completions', { messages, max_tokens: 1, stream: true })
    const headers = { authorization: `Bearer ${key}` }
    const told = parseMetrics((await get('/metrics', { headers })).text)

    const rows = [...PAGE.matchAll(ROW)].map(([, name = '', type, labels = '']) => {
      return { name, type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label) }
    })
    const own = [...told.values()].filter(({ name }) => name.startsWith('weft_'))
    expect(rows.map(({ name, type }) => `${name} ${type}`).sort()).toEqual(
      own.map(({ name, type }) => `${name} ${type}`).sort(),
    )
    for (const { name, labels } of rows) {
      for (const sample of told.get(name)?.samples ?? []) {
        const { le: _bound, ...others } = sample.labels
        expect([name, Object.keys(others)]).toEqual([name, labels])
      }
    }
    expect(own.filter(({ samples }) => samples.length === 0).map(({ name }) => name)).toEqual(
      expect.not.arrayContaining(['weft_disk_free_bytes', 'weft_read_duration_seconds']),
    )
  })

  it('warns by metrics that there are', () => {
    const names = new Set([...PAGE.matchAll(ROW)].map(([, name]) => name))
    const used = PAGE.match(/\bweft_\w+/g) ?? []
    const unknown = used.filter((name) => !names.has(name.replace(/_bucket$/, '')))
    expect(unknown).toEqual([])
  })
})
