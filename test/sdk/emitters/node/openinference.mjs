import { setSession, setUser } from '@arizeai/openinference-core'
import { context } from '@opentelemetry/api'
import { CONVERSATION, USER } from './steps.mjs'

/** Runs with the session and the user that OpenInference's instrumentations put on their spans. */
export function withSession(run) {
  const session = setSession(context.active(), { sessionId: CONVERSATION })
  return context.with(setUser(session, { userId: USER }), run)
}
