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

it('exports numbers that are no integers of 64 bits as doubles, also with the digits that a client sent', async () => {
  const { get, post } = await buildTestApp()
  const numbers = ['9223372036854775807', '9223372036854775808', '-0.0', '0.12345678901234567890']
  const attributes = numbers.map((text, at) => `"${at}": ${text}`).join()
  const ids = `"project_id": "acme/demo", "id": "a", "trace_id": "${TRACE}"`
  const start = `${ids}, "op_name": "op", "started_at": "2026-01-31T09:30:00Z", "attributes": {}, "inputs": {}`
  await post(
    '/call/start',
    `{"start": {${start}, "otel_dump": {"span_id": "b7ad6b7169203331", "attributes": {${attributes}}}}}`,
  )
  const { text } = await get(`/otel/v1/traces/${TRACE}?project_id=acme/demo`)
  const [integer, ...doubles] = numbers
  expect(text).toContain(`{"intValue":"${integer}"}`)
  for (const double of doubles) expect(text).toContain(`{"doubleValue":${double}}`)
})

it('asks for the parameter project_id where no project is named', async () => {
  const { get } = await buildTestApp()
  const { status, body } = await get(`/otel/v1/traces/${TRACE}`)
  expect(status).toBe(400)
  expect(body.error).toMatchObject({ code: 'otlp_project_missing', param: 'project_id' })
  expect(body.error.message).toContain('?project_id=<entity>/<project>')
})
