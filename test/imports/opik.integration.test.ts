import { describe, expect, it } from 'vitest'
import { openOpik } from '../../src/imports/opik.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importServed, optionsOf, recordedResponses, serveApi } from './importing.ts'

const RESPONSES = recordedResponses('opik')

const [TRACE, MODEL, TOOL] = [1, 2, 3].map((end) => `0190a1b2-0000-7000-8000-00000000000${end}`)

const imported = () => importServed(openOpik, RESPONSES)

describe('weft import --from opik', () => {
  it('reads traces as roots of their spans, counts usage once, and changes nothing the second time', async () => {
    const { report, records } = await imported()
    expect(report).toEqual({
      counts: { calls: 3, feedback: 3, datasets: 1, rows: 2, objects: 2, files: 0 },
      left: {},
    })
    expect(records.calls).toMatchObject([
      {
        id: TRACE,
        trace_id: TRACE,
        thread_id: 't1',
        op_name: 'answer',
        started_at: '2026-05-28T20:26:40.123456Z',
        ended_at: '2026-05-28T20:26:41.023456Z',
        exception: 'ValueError: no such item',
        inputs: { q: 'ü' },
        output: { a: 'hi' },
        summary: {},
        attributes: { metadata: { tier: 'gold' }, tags: ['beta'] },
      },
      {
        id: MODEL,
        parent_id: TRACE,
        attributes: { kind: 'llm', provider: 'openai' },
        inputs: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'hello' }] },
        output: { choices: [{ message: { role: 'assistant', content: 'hi' } }] },
        summary: {
          usage: {
            'gpt-5.4': {
              prompt_tokens: 100,
              completion_tokens: 20,
              prompt_tokens_details: { cached_tokens: 40 },
              cost: 0.003,
            },
          },
        },
      },
      { id: TOOL, parent_id: MODEL, attributes: { kind: 'tool' }, inputs: { id: '12' } },
    ])
    expect(records.calls[2]).not.toHaveProperty('ended_at')
  })

  it('keeps scores, comments as notes, items of datasets, and versions of prompts', async () => {
    const { records } = await imported()
    const found = Object.fromEntries(records.feedback.map((one) => [one.feedback_type, one]))
    expect(found).toMatchObject({
      overall: {
        weave_ref: `weave:///acme/demo/call/${TRACE}`,
        creator: 'reviewer',
        created_at: '2026-05-28T20:27:00.123456Z',
        payload: { score: 1, explanation: 'because' },
      },
      correctness: {
        weave_ref: `weave:///acme/demo/call/${MODEL}`,
        payload: { score: 0.5, label: 'half' },
      },
      'wandb.note': { payload: { note: 'see the item' } },
    })
    expect(records.rows).toEqual([
      { id: 'i1', q: '1', expected: 'x' },
      { id: 'i2', q: '2', expected: 'x' },
    ])
    expect(records.objects.filter(({ object_id }) => object_id === 'greet')).toMatchObject([
      { aliases: [], val: { content: 'Hello {{q}}', description: 'first' } },
      { aliases: ['production'], tags: ['beta'], val: { messages: [{ content: '{{q}}' }] } },
    ])
  })

  it('sends the key and the workspace', async () => {
    const { url, requests } = await serveApi({})
    const options = optionsOf(url, { OPIK_API_KEY: 'ok-1', OPIK_WORKSPACE: 'team' })
    await expect(importInto(makeTempDir(), openOpik(options))).rejects.toThrow(/traces\/search/)
    expect(requests[0]).toMatchObject({
      authorization: 'ok-1',
      headers: { 'comet-workspace': 'team' },
    })
  })
})
