import { describe, expect, it } from 'vitest'
import { openLangfuse } from '../../src/imports/langfuse.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importServed, optionsOf, recordedResponses, serveApi } from './importing.ts'

const RESPONSES = recordedResponses('langfuse')

const [ROOT, MODEL] = ['eee19b7ec3c1b171', 'eee19b7ec3c1b172']
const TRACE = '5b8efff798038103d269b633813fc60c'

const imported = () => importServed(openLangfuse, RESPONSES)

describe('weft import --from langfuse', () => {
  it('reads observations with usage, cost and whole metadata, and changes nothing the second time', async () => {
    const { report, records } = await imported()
    expect(report).toEqual({
      counts: { calls: 3, feedback: 3, datasets: 1, rows: 2, objects: 2, files: 0 },
      left: {},
    })
    const calls = Object.fromEntries(records.calls.map((call) => [call.id, call]))
    expect(calls[ROOT]).toMatchObject({
      trace_id: TRACE,
      thread_id: 's1',
      end_user_id: 'u1',
      op_name: 'answer',
      started_at: '2026-05-28T20:26:40.123000Z',
      ended_at: '2026-05-28T20:26:41.023000Z',
      exception: 'no such item',
      inputs: { q: 'ü' },
      output: 'done',
      attributes: {
        langfuse: {
          observation: { metadata: { tier: 'gold', note: 'x'.repeat(240) } },
          trace: { tags: ['beta'] },
        },
      },
    })
    expect(calls[ROOT]).not.toHaveProperty('otel_dump')
    expect(calls[MODEL]).toMatchObject({
      parent_id: ROOT,
      inputs: {
        model: 'gpt-5.4',
        temperature: 0.5,
        messages: [{ role: 'user', content: 'hello' }],
      },
      output: { choices: [{ message: { role: 'assistant', content: 'hi' } }] },
      summary: {
        usage: {
          'gpt-5.4': {
            prompt_tokens: 100,
            completion_tokens: 20,
            total_tokens: 120,
            prompt_tokens_details: { cached_tokens: 40 },
            cost: { total: 0.003 },
          },
        },
      },
    })
    expect(calls['event-1']).toMatchObject({ ended_at: '2026-05-28T20:26:40.900000Z' })
  })

  it('keeps scores as those that its SDKs send here, with their ids and times', async () => {
    const { records } = await imported()
    const found = Object.fromEntries(records.feedback.map((one) => [one.id, one]))
    expect(found).toMatchObject({
      'sc-1': {
        feedback_type: 'langfuse.score.correctness',
        weave_ref: `weave:///acme/demo/call/${MODEL}`,
        created_at: '2026-05-28T20:26:50.000000Z',
        payload: { value: 0.5, comment: 'because', metadata: { k: 1 } },
      },
      'sc-2': { weave_ref: `weave:///acme/demo/call/${TRACE}`, payload: { value: 'good' } },
      'sc-3': { weave_ref: 'weave:///acme/demo/thread/s1', payload: { value: true } },
    })
  })

  it('leaves out archived items, and keeps versions, labels and tags of prompts', async () => {
    const { records } = await imported()
    expect(records.rows).toEqual([
      { id: 'i1', input: { q: '1' }, expected_output: { a: 'x' }, metadata: { m: 1 } },
      { id: 'i3', input: { q: '3' }, expected_output: { a: 'x' }, metadata: { m: 1 } },
    ])
    expect(records.objects.slice(1)).toMatchObject([
      { version_index: 0, aliases: [], tags: ['lang-en'], val: { content: 'Hello {{q}}' } },
      {
        version_index: 1,
        aliases: ['production'],
        created_at: '2026-05-28T20:02:00.000000Z',
        val: { name: 'team/greet', messages: [{ content: '{{q}}' }], description: 'change 2' },
      },
    ])
  })

  it('sends the keys as a user with a password', async () => {
    const { url, requests } = await serveApi({})
    const secrets = { LANGFUSE_PUBLIC_KEY: 'pk-1', LANGFUSE_SECRET_KEY: 'sk-1' }
    const refused = importInto(makeTempDir(), openLangfuse(optionsOf(url, secrets)))
    await expect(refused).rejects.toThrow(/observations responds with 404/)
    expect(requests[0]?.authorization).toBe(`Basic ${btoa('pk-1:sk-1')}`)
  })
})
