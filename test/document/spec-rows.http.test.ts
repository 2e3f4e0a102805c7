import { describe, expect, it } from 'vitest'
import { SPEC_ROWS } from '../spec-rows.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { rowsMissing } from './row-places.ts'

async function readDocument() {
  const { get } = await buildTestApp()
  return (await get('/openapi.json')).body
}

describe('the rows of the interface in the OpenAPI document', () => {
  it('each name a field or an operation that the document has', async () => {
    expect(rowsMissing(await readDocument(), SPEC_ROWS)).toEqual([])
  })

  it('are missed when the document loses a field, an operation or a limit', async () => {
    const document = await readDocument()
    const { schemas } = document.components
    delete schemas.FeedbackCreateRequest.properties.queue_id
    delete document.paths['/calls/stats']
    schemas.ChatCompletionRequest.properties.n.default = 2
    const missing = rowsMissing(document, SPEC_ROWS)
    expect(missing).toEqual(
      expect.arrayContaining(['§2.2 queue_id', '§2.7 op_names', '§4.4 start', '§8 chat defaults']),
    )
    expect(missing).not.toContain('§2.2 creator')
    expect(rowsMissing(document, ['§2.2 no_field', '§3.1 anything'])).toHaveLength(2)
  })
})
