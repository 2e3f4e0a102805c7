/**
 * Matches regular expressions and validates by JSON schemas, each within a limit of time: neither may take linear time
 * only. One after the other, in a thread of its own.
 */
import { createContext, Script } from 'node:vm'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { similarityOf } from '../../domain/evaluators/similarity.ts'
import { serveThread } from '../../threads/serve-thread.ts'

export type CheckRequest =
  | {
      readonly type: 'regex'
      readonly pattern: string
      readonly flags: string
      readonly text: string
    }
  /** `value_json` undefined: only the schema is compiled. */
  | { readonly type: 'schema'; readonly schema_json: string; readonly value_json?: string }
  | { readonly type: 'similarity'; readonly value_json: string; readonly expected_json: string }

export interface CheckReply {
  /** null: it could not be checked. */
  readonly passed: boolean | null
  /** Why it did not pass, or was not checked. */
  readonly reason: string | null
  /** How alike the values are, 0 to 1. */
  readonly score?: number
}

/** Limit: milliseconds of one check. */
const CHECK_MS_MAX = 2000
/** Limit: compiled schemas that are cached. */
const SCHEMAS_MAX = 32
const REASON_CHARS_MAX = 1_000

const schemas = new Map<string, ValidateFunction>()
const limited = { act: (): unknown => undefined }
createContext(limited)
const script = new Script('act()')

/** Runs a function; V8 ends it, also within one regular expression, when its time is over. */
function runLimited<T>(act: () => T): T {
  limited.act = act
  return script.runInContext(limited, { timeout: CHECK_MS_MAX }) as T
}

function compile(json: string): ValidateFunction {
  const cached = schemas.get(json)
  if (cached !== undefined) return cached
  const { $schema: _dialect, ...schema } = JSON.parse(json) as Record<string, unknown>
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  const validate = ajv.compile(schema)
  if (schemas.size >= SCHEMAS_MAX) schemas.clear()
  schemas.set(json, validate)
  return validate
}

function check(request: CheckRequest): CheckReply {
  if (request.type === 'regex') {
    const { pattern, flags, text } = request
    const passed = runLimited(() => new RegExp(pattern, flags).test(text))
    return { passed, reason: null }
  }
  if (request.type === 'similarity') {
    const [value, expected] = [JSON.parse(request.value_json), JSON.parse(request.expected_json)]
    return { passed: true, reason: null, score: runLimited(() => similarityOf(value, expected)) }
  }
  const { schema_json, value_json } = request
  const validate = runLimited(() => compile(schema_json))
  if (value_json === undefined) return { passed: true, reason: null }
  const value: unknown = JSON.parse(value_json)
  const passed = runLimited(() => validate(value))
  const [fault] = validate.errors ?? []
  if (passed || fault === undefined) return { passed, reason: null }
  const reason = `${fault.instancePath || 'the value'} ${fault.message ?? 'breaks the schema'}`
  return { passed, reason: reason.slice(0, REASON_CHARS_MAX) }
}

serveThread<CheckRequest, CheckReply>(() => ({
  run(request) {
    try {
      return check(request)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const isLate = code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
      const reason = isLate ? `takes longer than ${CHECK_MS_MAX} ms` : String(message ?? error)
      return { passed: null, reason: reason.slice(0, REASON_CHARS_MAX) }
    }
  },
}))
