/** An app whose model says what a test's script has, and a message to send to it. */
import { buildTestApp } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  HELLO,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'

export const URL = '/v1/messages'
export const HI = { model: 'scripted', max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] }

/** @param more - `drops`: whether what a chat lacks is left out */
export async function buildApp(script: readonly Step[] = HELLO, more: { drops?: boolean } = {}) {
  const backend = createScriptedBackend(script)
  const capabilities = { tools: true, prioritySchedulingEnabled: false }
  const dropping = { ...backend, dropsUnsupported: more.drops === true }
  const models = scriptedModels({ backend: dropping, capabilities })
  return { ...(await buildTestApp({}, { models })), backend }
}
