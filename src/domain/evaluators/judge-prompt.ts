/** The request of a judge for one subject. Pure. */
import type { JudgeScorer } from '../../schemas/evaluators/scorer.ts'
import { fillText } from '../chat/completion-create.ts'
import { parseJsonPath, valueAtJsonPath } from '../json/json-path.ts'
import { renderJson } from '../json/json-text.ts'
import type { ScoredSubject } from './score.ts'

/** Limit: characters of one variable in a prompt; a longer value is cut. */
const VARIABLE_CHARS_MAX = 200_000
const SCHEMA_NAME = 'score'

/** Returns the request as a chat before validation; a variable without a value is empty. */
export function toJudgeRequest(judge: JudgeScorer, subject: ScoredSubject) {
  const values = Object.fromEntries(
    Object.entries(judge.variables).map(([name, path]) => [name, readVariable(subject, path)]),
  )
  return {
    model: judge.model,
    messages: judge.messages.map(({ role, content }) => ({
      role,
      content: fillText(content, values),
    })),
    max_tokens: judge.max_tokens,
    temperature: judge.temperature,
    response_format: {
      type: 'json_schema',
      json_schema: { name: SCHEMA_NAME, strict: true, schema: judge.output_schema },
    },
  }
}

function readVariable(subject: ScoredSubject, path: string): string {
  const value = valueAtJsonPath(subject, parseJsonPath(path) ?? [])
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : renderJson(value)
  return text.length > VARIABLE_CHARS_MAX ? `${text.slice(0, VARIABLE_CHARS_MAX)}…` : text
}
