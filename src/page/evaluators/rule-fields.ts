/** The fields of each kind of rule, and the rule that they make. Pure. */
import type { Rule } from '../../schemas/evaluators/scorer.ts'
import { parseExact } from '../api/exact-json.ts'

/** As texts; empty: not set. */
export const EMPTY_RULE = {
  path: '$.output',
  texts: '',
  /** How many of the texts must occur: `any` or `all`. */
  occurring: 'any',
  pattern: '',
  /** Where the expected value is: `path` or `value`. */
  expected: 'path',
  expected_path: '',
  /** JSON. */
  value: '',
  /** JSON. */
  schema: '{\n  "type": "object"\n}',
  /** `matters` or `ignored`. */
  case: 'matters',
  unit: 'characters',
  min: '',
  max: '',
  min_score: '1',
  max_ms: '',
  max_usd: '',
}

type RuleFields = typeof EMPTY_RULE
export type RuleKind = Rule['type']

interface RuleForm<Kind extends RuleKind> {
  /** As the choice of scorers names it. */
  readonly label: string
  /** Returns the fields of a stored rule; null for one that they cannot show. */
  readonly read: (rule: RuleOf<Kind>) => Partial<RuleFields> | null
  /** @throws Error for text that is not JSON where JSON is asked for */
  readonly write: (fields: RuleFields) => Omit<RuleOf<Kind>, 'type'>
}

type RuleOf<Kind extends RuleKind> = Extract<Rule, { type: Kind }>

/** A form for every kind of rule that the API has, in the order of the choice. */
export const RULE_FORMS: { readonly [Kind in RuleKind]: RuleForm<Kind> } = {
  equals: {
    label: 'equals',
    read: ({ path, ...rule }) => ({ path, ...readExpected(rule) }),
    write: ({ path, ...fields }) => ({ path, ...writeExpected(fields) }),
  },
  contains: {
    label: 'contains',
    read: ({ path, texts, all, ignore_case }) =>
      texts.some((text) => text.includes('\n'))
        ? null
        : {
            path,
            texts: texts.join('\n'),
            occurring: all ? 'all' : 'any',
            case: caseOf(ignore_case),
          },
    write: ({ path, texts, occurring, case: letters }) => ({
      path,
      texts: texts.split('\n').filter((text) => text !== ''),
      all: occurring === 'all',
      ignore_case: letters === 'ignored',
    }),
  },
  regex: {
    label: 'regular expression',
    read: ({ path, pattern, ignore_case }) => ({ path, pattern, case: caseOf(ignore_case) }),
    write: ({ path, pattern, case: letters }) => ({
      path,
      pattern,
      ignore_case: letters === 'ignored',
    }),
  },
  similarity: {
    label: 'similarity',
    read: ({ path, min, ...rule }) => ({ path, min_score: String(min), ...readExpected(rule) }),
    write: ({ path, min_score, ...fields }) => ({
      path,
      min: Number(min_score),
      ...writeExpected(fields),
    }),
  },
  json_schema: {
    label: 'JSON Schema',
    read: ({ path, schema }) => ({ path, schema: JSON.stringify(schema, null, 2) }),
    write: ({ path, schema }) => ({ path, schema: parseSchema(schema) }),
  },
  length: {
    label: 'length',
    read: ({ path, unit, min, max }) => ({
      path,
      unit,
      min: textOfNumber(min),
      max: textOfNumber(max),
    }),
    write: ({ path, unit, min, max }) => ({
      path,
      unit: unit === 'words' ? 'words' : 'characters',
      min: toNumber(min),
      max: toNumber(max),
    }),
  },
  latency: {
    label: 'latency',
    read: ({ max_ms }) => ({ max_ms: String(max_ms) }),
    write: ({ max_ms }) => ({ max_ms: Number(max_ms) }),
  },
  cost: {
    label: 'cost',
    read: ({ max_usd }) => ({ max_usd: String(max_usd) }),
    write: ({ max_usd }) => ({ max_usd: Number(max_usd) }),
  },
}

/** Whether a kind of scorer is a kind of rule. */
export function isRuleKind(kind: string): kind is RuleKind {
  return Object.hasOwn(RULE_FORMS, kind)
}

/** The fields of a stored rule; null for one that they cannot show. */
export function toRuleFields(rule: Rule): Partial<RuleFields> | null {
  return (RULE_FORMS[rule.type] as RuleForm<RuleKind>).read(rule)
}

/**
 * The rule that the fields make.
 *
 * @param stored - what is edited; members that the fields do not show stay as they are
 * @throws Error for text that is not JSON where JSON is asked for
 */
export function toRule(type: RuleKind, fields: RuleFields, stored: Rule | null): object {
  return { ...(stored?.type === type ? stored : {}), type, ...RULE_FORMS[type].write(fields) }
}

/** What equals and similarity compare with. */
type Expecting = Pick<RuleOf<'equals'>, 'value' | 'expected_path' | 'ignore_case'>

function readExpected({ value, expected_path, ignore_case }: Expecting): Partial<RuleFields> {
  return {
    // A path comes before a value.
    expected: expected_path === undefined ? 'value' : 'path',
    value: value === undefined ? '' : JSON.stringify(value, null, 2),
    expected_path: expected_path ?? '',
    case: caseOf(ignore_case),
  }
}

function writeExpected({
  expected,
  expected_path,
  value,
  case: letters,
}: Pick<RuleFields, 'expected' | 'expected_path' | 'value' | 'case'>): Expecting {
  const ignore_case = letters === 'ignored'
  return expected === 'value'
    ? { value: parseValue(value, 'The expected value'), expected_path: undefined, ignore_case }
    : { expected_path, ignore_case }
}

function parseSchema(text: string): RuleOf<'json_schema'>['schema'] {
  const schema = parseValue(text, 'The JSON Schema')
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new Error('The JSON Schema is an object, such as {"type": "object"}.')
  return schema as RuleOf<'json_schema'>['schema']
}

function parseValue(text: string, what: string): unknown {
  try {
    return parseExact(text)
  } catch (error) {
    throw new Error(`${what} is JSON, such as "blue", 7 or {"a": 1}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function caseOf(isIgnored: boolean): string {
  return isIgnored ? 'ignored' : 'matters'
}

function toNumber(text: string): number | undefined {
  return text === '' ? undefined : Number(text)
}

/** '' for a number that is not set. */
export function textOfNumber(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value)
}
