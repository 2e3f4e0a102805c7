/** Entry of the thread in which calls with much text are redacted. */

import { packCalls, unpackCalls } from '../domain/calls/packed-calls.ts'
import { redactParts, redactRecorded } from '../domain/projects/redacted-calls.ts'
import { createRedactor, type Redaction, type Redactor } from '../domain/projects/redaction.ts'
import { serveThread } from '../threads/serve-thread.ts'
import type { RedactionWork, RedactionWorkResult } from './redacting-stores.ts'

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

serveThread<RedactionWork, RedactionWorkResult>(() => ({
  async run({ rules, packed, recorded }) {
    if (recorded !== undefined) {
      const redaction = rules.get(recorded.facts.project_id)
      return { recorded: redaction ? redactRecorded(recorded, compile(redaction)) : recorded }
    }
    const find = (project_id: string) => {
      const redaction = rules.get(project_id)
      return redaction === undefined ? null : compile(redaction)
    }
    return { packed: packCalls(redactParts(unpackCalls(packed ?? packCalls([])), find)) }
  },
}))
