import { expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { buildSpan, TRACE, toJsonRequest } from './otel-fixtures.ts'

const HEADERS = { project_id: 'acme/demo' }

it('exports as integers only what fits into 64 bits, so that a trace can be sent again', async () => {
  const attributes = [
    { key: 'exact', value: { intValue: '9007199254740993' } },
    { key: 'large', value: { doubleValue: 1e20 } },
    { key: 'huge', value: { doubleValue: 1e300 } },
  ]
  const request = toJsonRequest([buildSpan()])
  Object.assign(request.resourceSpans[0]?.scopeSpans[0]?.spans[0] ?? {}, { attributes })
  const [one, two] = [await buildTestApp(), await buildTestApp()]
  await one.post('/v1/traces', request, { headers: HEADERS })
  const { body } = await one.get(`/otel/v1/traces/${TRACE}?project_id=acme/demo`)
  expect(body.resourceSpans[0].scopeSpans[0].spans[0].attributes).toEqual(attributes)
  expect((await two.post('/v1/traces', body, { headers: HEADERS })).body).toEqual({})
})
