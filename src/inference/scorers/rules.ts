/** Rules: checks of a subject without a model. */
import { extname } from 'node:path'
import { readScore, type Score, type ScoredSubject } from '../../domain/evaluators/score.ts'
import { parseJsonPath, valueAtJsonPath } from '../../domain/json/json-path.ts'
import { renderJson, toCanonicalNumber } from '../../domain/json/json-text.ts'
import { ApiError } from '../../errors.ts'
import type { Rule, RuleScorer } from '../../schemas/evaluators/scorer.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { createBodyThread } from '../../threads/body-thread.ts'
import type { CheckReply, CheckRequest } from './check-thread-entry.ts'

/** Limit: characters of a text that is matched. */
const TEXT_CHARS_MAX = 1_000_000
/** Limit: checks that wait for the thread. */
const WAITING_MAX = 1_000
const THREAD = {
  entry: new URL(`./check-thread-entry${extname(import.meta.url)}`, import.meta.url),
  heapMibMax: 128,
}

/** Whether a rule passes, and what else is said of it. */
interface RuleResult {
  readonly passed: boolean
  readonly reason?: string | null
  readonly details?: JsonObject
}

export interface Checks {
  /**
   * Scores a subject by a rule.
   *
   * @throws ApiError scorer_failed for a value that is missing, or a pattern or schema that takes too long
   */
  score(scorer: RuleScorer, subject: ScoredSubject): Promise<Score>
  /** @returns what a value breaks of a JSON schema; null: nothing @throws ApiError scorer_failed */
  findSchemaFault(schema: JsonObject, value: unknown): Promise<string | null>
  /** @returns why a pattern or schema cannot be used; null: it can */
  findFault(request: CheckRequest): Promise<string | null>
  close(): Promise<void>
}

/** Opens the checks, whose thread starts with the first regular expression or schema. */
export function createChecks(): Checks {
  const thread = createBodyThread<CheckRequest, CheckReply>(THREAD, WAITING_MAX)

  async function check(request: CheckRequest) {
    const { passed, reason, score = 0 } = await thread.run(request)
    if (passed === null) {
      throw scorerFailed(`The ${request.type} ${reason ?? 'cannot be checked'}.`)
    }
    return { passed, reason, score }
  }

  const checkSchema = (schema: JsonObject, value: unknown) =>
    check({
      type: 'schema',
      schema_json: JSON.stringify(schema),
      value_json: renderJson(value),
    })

  async function apply(rule: Rule, subject: ScoredSubject): Promise<RuleResult> {
    if (rule.type === 'regex') {
      const text = textOf(requireValue(subject, rule.path)).slice(0, TEXT_CHARS_MAX)
      const { passed, reason } = await check({ type: 'regex', ...toRegex(rule), text })
      return { passed, reason }
    }
    if (rule.type === 'json_schema') {
      const value = requireValue(subject, rule.path)
      const parsed = typeof value === 'string' ? parseText(value) : value
      if (parsed === undefined) return { passed: false, reason: 'the text is no JSON' }
      return checkSchema(rule.schema, parsed)
    }
    if (rule.type === 'similarity') {
      const { score } = await check({
        type: 'similarity',
        value_json: foldJson(requireValue(subject, rule.path), rule),
        expected_json: foldJson(expectedOf(rule, subject), rule),
      })
      return { passed: score >= rule.min, details: { score } }
    }
    return applyPlain(rule, subject)
  }

  return {
    async score({ rule, negate }, subject) {
      const { passed, reason = null, details = {} } = await apply(rule, subject)
      const output = { passed: passed !== negate, ...details, ...(reason ? { reason } : {}) }
      return readScore(output, { cost_usd: null, call_id: null })
    },
    async findSchemaFault(schema, value) {
      const { passed, reason } = await checkSchema(schema, value)
      return passed ? null : (reason ?? 'it breaks the schema')
    },
    async findFault(request) {
      const { passed, reason } = await thread.run(request)
      return passed === null ? reason : null
    },
    close: thread.close,
  }
}

/** The rules that take linear time. */
function applyPlain(
  rule: Exclude<Rule, { type: 'regex' | 'json_schema' | 'similarity' }>,
  subject: ScoredSubject,
): RuleResult {
  switch (rule.type) {
    case 'contains': {
      const text = fold(textOf(requireValue(subject, rule.path)), rule)
      const isIn = (one: string) => text.includes(fold(one, rule))
      return { passed: rule.all ? rule.texts.every(isIn) : rule.texts.some(isIn) }
    }
    case 'equals': {
      const expected = expectedOf(rule, subject)
      const value = requireValue(subject, rule.path)
      const isText = typeof value === 'string' || typeof expected === 'string'
      const textIn = isText ? textOf : canonicalTextOf
      return { passed: fold(textIn(value), rule) === fold(textIn(expected), rule) }
    }
    case 'length': {
      const text = textOf(requireValue(subject, rule.path))
      const length = rule.unit === 'words' ? (text.match(/\S+/gu)?.length ?? 0) : [...text].length
      const { min = 0, max = Number.POSITIVE_INFINITY } = rule
      return { passed: length >= min && length <= max, details: { length } }
    }
    case 'latency':
      return atMost(subject.latency_ms, rule.max_ms, 'latency_ms')
    case 'cost':
      return atMost(subject.cost_usd, rule.max_usd, 'cost_usd')
  }
}

function expectedOf(
  { expected_path, value }: Extract<Rule, { type: 'equals' | 'similarity' }>,
  subject: ScoredSubject,
): unknown {
  return expected_path ? requireValue(subject, expected_path) : value
}

/** A value as JSON; a text that is JSON of another kind counts as that. */
function foldJson(value: unknown, rule: { readonly ignore_case: boolean }): string {
  const parsed = typeof value === 'string' ? (parseText(value) ?? value) : value
  return fold(renderJson(parsed ?? null), rule)
}

function atMost(value: number | null | undefined, max: number, name: string): RuleResult {
  if (value === null || value === undefined) throw scorerFailed(`What is scored has no ${name}.`)
  return { passed: value <= max, details: { [name]: value } }
}

/** Returns the pattern and flags of a rule. */
export function toRegex({ pattern, ignore_case }: Extract<Rule, { type: 'regex' }>) {
  return { pattern, flags: ignore_case ? 'iu' : 'u' }
}

function fold(text: string, { ignore_case }: { readonly ignore_case: boolean }): string {
  return ignore_case ? text.toLowerCase() : text
}

/** @throws ApiError scorer_failed */
function requireValue(subject: ScoredSubject, path: string): unknown {
  const value = valueAtJsonPath(subject, parseJsonPath(path) ?? [])
  if (value === undefined) throw scorerFailed(`What is scored has nothing at ${path}.`)
  return value
}

/** A text itself, any other value as JSON with sorted keys. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : renderJson(sortKeys(value))
}

/** The same for all texts of a number: of 1 and 1.0, and of 0 and -0. */
function canonicalTextOf(value: unknown): string {
  return renderJson(sortKeys(value, toCanonicalNumber))
}

function sortKeys(value: unknown, toLeaf = (leaf: unknown) => leaf): unknown {
  if (Array.isArray(value)) return value.map((inner) => sortKeys(inner, toLeaf))
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return toLeaf(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner, toLeaf)]))
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The error of a scorer that gives no score. @param message - a sentence for the owner of the scorer */
export function scorerFailed(message: string, cause?: unknown): ApiError {
  return new ApiError('scorer_failed', { message, cause })
}
