import { describe, expect, it } from 'vitest'
import { SPEC_ROWS } from '../spec-rows.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { rowsMissing } from './row-places.ts'

async function readDocument() {
  const { get } = await buildTestApp()
  return (await get('/openapi.json')).body
}

/** Paths of a JSON value at which `keyword` stands in a schema. */
function pathsOf(node: unknown, keyword: string, path: string[] = []): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, inner]) => {
    const isKeyword = name === keyword && path.at(-1) !== 'properties'
    return isKeyword ? [path.join('.')] : pathsOf(inner, keyword, [...path, name])
  })
}

describe('what clients send, in the OpenAPI document', () => {
  it('has its defaults in descriptions: generators make a property with a default required', async () => {
    const { paths, components } = await readDocument()
    const bodies = Object.values<object>(paths)
      .flatMap((item) => Object.values<{ requestBody?: object }>(item as never))
      .map(({ requestBody }) => requestBody)
    expect(pathsOf(bodies, 'default')).toEqual([])
    expect(pathsOf(components.schemas, 'default')).toEqual([
      'ChatCompletionResponse.properties.object',
      'ChatUsage.properties.prompt_tokens',
      'ChatUsage.properties.total_tokens',
      'ChatUsage.properties.completion_tokens',
    ])
    const { properties, required } = components.schemas.ChatCompletionRequest
    expect(required).toEqual(['messages'])
    expect(properties.use_beam_search.description).toContain('Default false.')
  })

  it('has no form field that is a text or a list', async () => {
    const { paths } = await readDocument()
    const { schema } =
      paths['/v1/audio/transcriptions'].post.requestBody.content['multipart/form-data']
    expect(schema.properties['timestamp_granularities[]'].type).toBe('array')
  })
})

describe('the rows of the interface in the OpenAPI document', () => {
  it('each name a field or an operation that the document has', async () => {
    expect(rowsMissing(await readDocument(), SPEC_ROWS)).toEqual([])
  })

  it('are missed when the document loses a field, an operation or a limit', async () => {
    const document = await readDocument()
    const { schemas } = document.components
    delete schemas.FeedbackCreateRequest.properties.queue_id
    delete document.paths['/calls/stats']
    schemas.ChatCompletionRequest.properties.n.description = 'How many. Default 2.'
    const missing = rowsMissing(document, SPEC_ROWS)
    expect(missing).toEqual(
      expect.arrayContaining(['§2.2 queue_id', '§2.7 op_names', '§4.4 start', '§8 chat defaults']),
    )
    expect(missing).not.toContain('§2.2 creator')
    expect(rowsMissing(document, ['§2.2 no_field', '§3.1 anything'])).toHaveLength(2)
  })
})
