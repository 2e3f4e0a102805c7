import { describe, expect, it } from 'vitest'
import { openLangsmith } from '../../src/imports/langsmith.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { importInto, importServed, optionsOf, recordedResponses, serveApi } from './importing.ts'

const RESPONSES = recordedResponses('langsmith')

const [ROOT, MODEL] = [1, 2].map((end) => `0190a1b2-0000-7000-8000-00000000000${end}`)

const imported = () => importServed(openLangsmith, RESPONSES)

describe('weft import --from langsmith', () => {
  it('reads runs, counts usage that a chain repeats once, and changes nothing the second time', async () => {
    const { report, records } = await imported()
    expect(report).toEqual({
      counts: { calls: 2, feedback: 1, datasets: 1, rows: 2, objects: 2, files: 0 },
      left: {},
    })
    const [root, model] = records.calls
    expect(root).toMatchObject({
      id: ROOT,
      trace_id: ROOT,
      thread_id: 't1',
      end_user_id: 'u1',
      op_name: 'agent',
      started_at: '2026-05-28T20:26:40.123456Z',
      ended_at: '2026-05-28T20:26:41.023456Z',
      exception: "ValueError('no such item')",
      inputs: { q: 'ü' },
      output: { answer: 'hi' },
      summary: {},
      attributes: { kind: 'chain', langsmith: { tags: ['beta'], metadata: { tier: 'gold' } } },
    })
    expect(model).toMatchObject({
      id: MODEL,
      parent_id: ROOT,
      attributes: { kind: 'llm', provider: 'openai' },
      inputs: { model: 'gpt-5.4', messages: [{ role: 'user', content: 'hello' }] },
      output: {
        choices: [{ message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      },
      summary: {
        usage: {
          'gpt-5.4': {
            prompt_tokens: 100,
            completion_tokens: 20,
            prompt_tokens_details: { cached_tokens: 40 },
            total_cost: '0.003',
          },
        },
      },
    })
  })

  it('keeps feedback with corrections, examples, and commits of prompts in their order', async () => {
    const { records } = await imported()
    expect(records.feedback).toMatchObject([
      {
        weave_ref: `weave:///acme/demo/call/${MODEL}`,
        feedback_type: 'correctness',
        created_at: '2026-05-28T20:27:00.000000Z',
        payload: { score: 0.5, explanation: 'because', correction: { a: 'x' } },
      },
    ])
    expect(records.rows).toMatchObject([{ inputs: { q: '1' } }, { inputs: { q: '2' } }])
    const prompts = records.objects.filter(({ object_id }) => object_id === 'greet')
    expect(prompts.map(({ val }) => (val as { messages: unknown }).messages)).toEqual([
      [{ role: 'user', content: 'Hello {q}' }],
      [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: '{q}' },
      ],
    ])
  })

  it('sends the key in a header of its own, and names a project that is not there', async () => {
    const { url, requests } = await serveApi({ 'GET /sessions?name=none&limit=1': [] })
    const options = { ...optionsOf(url, { LANGSMITH_API_KEY: 'ls-1' }), sourceName: 'none' }
    const refused = importInto(makeTempDir(), openLangsmith(options))
    await expect(refused).rejects.toThrow('LangSmith has no project none')
    expect(requests[0]?.headers['x-api-key']).toBe('ls-1')
  })
})
