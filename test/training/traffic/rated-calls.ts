/** Recorded and traced chats with feedback, for the tests of training from traffic. */
import { expect } from 'vitest'
import type { TestApp } from '../../support/build-test-app.ts'

export const PROJECT = 'acme/demo'

/** A recorded completion with its call's id. */
export async function chat(
  testApp: TestApp,
  content: string,
  fields: object = {},
): Promise<string> {
  const body = {
    messages: [{ role: 'user', content }],
    max_tokens: 8,
    logprobs: true,
    return_token_ids: true,
    ...fields,
  }
  const headers = { 'openai-project': PROJECT }
  const answer = await testApp.post('/v1/chat/completions', body, { headers })
  expect(answer.status).toBe(200)
  const id = String(answer.headers['x-weft-call-id'])
  const read = () => testApp.post('/call/read', { project_id: PROJECT, id })
  await expect.poll(async () => (await read()).status).toBe(200)
  return id
}

export async function rate({ post }: TestApp, callId: string, payload: object, type = 'rating') {
  const { status, body } = await post('/traces/feedback/create', {
    project_id: PROJECT,
    weave_ref: `weave:///${PROJECT}/call/${callId}`,
    feedback_type: type,
    payload,
  })
  expect([status, body.error]).toEqual([200, undefined])
}

/** A traced chat of a client's, with what was said. */
export async function trace({ post }: TestApp, id: string, fields: object, output?: unknown) {
  const started_at = `2026-01-31T09:30:0${id.length}Z`
  const start = { project_id: PROJECT, id, op_name: 'agent', started_at, attributes: {} }
  await post('/call/start', { start: { inputs: {}, ...start, ...fields } })
  const ended_at = '2026-01-31T09:31:00Z'
  expect(
    (await post('/call/end', { end: { project_id: PROJECT, id, ended_at, output } })).status,
  ).toBe(200)
}

export const said = (content: string, more: object = {}) => ({
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content }, ...more }],
})
export const asked = (content: string) => ({ inputs: { messages: [{ role: 'user', content }] } })
