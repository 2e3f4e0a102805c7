/** Entry of the thread in which calls with much text are redacted. */

import { packCalls, unpackCalls } from '../domain/calls/packed-calls.ts'
import { redactLogs, redactParts, redactRecorded } from '../domain/projects/redacted-calls.ts'
import { createRedactor, type Redaction, type Redactor } from '../domain/projects/redaction.ts'
import { serveThread } from '../threads/serve-thread.ts'
import type { RedactableTexts, RedactionWork } from './redacting-stores.ts'

const SAME = new Map<string, Redactor>()

/** Compiled rules are cached by their text. */
function compile(rules: Redaction): Redactor {
  const key = JSON.stringify(rules)
  const known = SAME.get(key)
  if (known !== undefined) return known
  if (SAME.size >= 100) SAME.clear()
  const made = createRedactor(rules)
  SAME.set(key, made)
  return made
}

serveThread<RedactionWork, RedactableTexts>(() => ({
  async run({ rules, packed, recorded, logs }) {
    const redactors = new Map([...rules].map(([project_id, own]) => [project_id, compile(own)]))
    const find = (project_id: string) => redactors.get(project_id) ?? null
    return {
      packed: packed && packCalls(redactParts(unpackCalls(packed), find)),
      recorded: recorded && redactRecorded(recorded, find),
      logs: logs && redactLogs(logs, find),
    }
  },
}))
