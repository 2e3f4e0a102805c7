/**
 * Objects by kind: reads and writes the content of models, scorers and so on. Pure.
 *
 * Spec: §2.1 (what contents hold is not shown). Choice: as the public clients write them.
 */
import { createHash } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import { ObjectId, type ObjectVersionFilter } from '../../schemas/objects/object.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { isObject } from '../json/is-object.ts'
import { renderJson } from '../json/json-text.ts'
import { filledTextOrNull, textOrEmpty, textOrNull } from '../json/json-values.ts'
import { digestOfJson } from './digests.ts'
import { classifyObject, type NewObject } from './object-content.ts'
import type { ObjectVersion } from './object-view.ts'

/** Name of the file with the source of an op or a model. */
export const SOURCE_FILE = 'obj.py'

export type KindName = 'op' | 'dataset' | 'model' | 'scorer' | 'evaluation'

const CLASSES: Readonly<Record<Exclude<KindName, 'op'>, string>> = {
  dataset: 'Dataset',
  model: 'Model',
  scorer: 'Scorer',
  evaluation: 'Evaluation',
}

/** Returns the filter for versions of a kind. */
export function filterOfKind(kind: KindName): ObjectVersionFilter {
  return kind === 'op' ? { is_op: true } : { is_op: false, base_object_classes: [CLASSES[kind]] }
}

export function isOfKind(version: ObjectVersion, kind: KindName): boolean {
  return kind === 'op' ? version.kind === 'op' : version.base_object_class === CLASSES[kind]
}

/** Limit: characters of the name of an object. */
const NAME_CHARS_MAX = 128
/** Characters of the hash in the name of an object. */
const HASH_CHARS = 16

/**
 * Returns the name of an object derived from its display name; `fallback` when that gives none.
 *
 * @param ending - of the name, however long that is
 */
export function toObjectId(name: string | null | undefined, fallback: string, ending = ''): string {
  const id = name?.toLowerCase().replace(/[^\p{L}\p{N}_.-]/gu, '_') ?? fallback
  // In small letters some names are longer; half a character is none.
  return (
    Array.from(id)
      .slice(0, NAME_CHARS_MAX - ending.length)
      .join('') + ending
  )
}

/** Returns the name itself where it can name an object; otherwise one made of it that no other name shares. */
export function objectIdOf(name: string): string {
  if (ObjectId.safeParse(name).success) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  return toObjectId(name, '', `-${hash}`)
}

/** Returns the name from which objectIdOf makes that of the object: the one in its content, or else the latter itself. */
export function sourceNameOf({ object_id }: ObjectVersion, val: JsonObject): string {
  const name = filledTextOrNull(val.name)
  return name !== null && objectIdOf(name) === object_id ? name : object_id
}

/** The content of an op. */
export function opContent(sourceDigest: string): object {
  return {
    _type: 'CustomWeaveType',
    weave_type: { type: 'Op' },
    files: { [SOURCE_FILE]: sourceDigest },
  }
}

/** The content of an object of a class of the clients. */
export function classContent(kind: Exclude<KindName, 'op'>, fields: object): object {
  const _class_name = CLASSES[kind]
  return { ...fields, _type: _class_name, _class_name, _bases: ['Object', 'BaseModel'] }
}

/**
 * Refuses additional fields of a content that would override its own.
 *
 * @param own - the fields that it has anyway
 * @throws ApiError validation_failed
 */
export function requireAdditionalFields(
  fields: object | null | undefined,
  own: object,
  param: string,
): void {
  for (const field of Object.keys(fields ?? {})) {
    if (!SYSTEM_FIELDS.has(field) && !Object.hasOwn(own, field)) continue
    const message = `${param} has a field that the content has already`
    throw new ApiError('validation_failed', { message, param: `${param}.${field}` })
  }
}

/** A content with the version that it may become. */
export function newObjectOf(
  val: object,
  named: Pick<NewObject, 'project_id' | 'object_id' | 'svc_user_id' | 'created_at_us'>,
): NewObject {
  const val_json = renderJson(val)
  return { ...named, digest: digestOfJson(val_json), val_json, ...classifyObject(val) }
}

/** A version with the fields of its content. */
export interface KindVersion {
  readonly version: ObjectVersion
  readonly val: Readonly<Record<string, unknown>>
  /** The source of the version; '' when it has none. */
  readonly source: string
}

/** Returns the digest of the file with the source; null when the content names none. */
export function sourceDigestOf(val: unknown): string | null {
  const files = isObject(val) ? val.files : null
  const digest = isObject(files) ? files[SOURCE_FILE] : null
  return typeof digest === 'string' ? digest : null
}

const SYSTEM_FIELDS: ReadonlySet<string> = new Set([
  ...['_type', '_class_name', '_bases', 'name', 'description', 'files'],
])

function baseOf({ version }: KindVersion) {
  const { digest, object_id, version_index, created_at_us } = version
  return { digest, object_id, version_index, created_at: renderTimestamp(created_at_us) }
}

function namedOf(of: KindVersion) {
  const { val, version } = of
  const name = textOrNull(val.name) ?? version.object_id
  return { ...baseOf(of), name, description: textOrNull(val.description) }
}

export function renderOp(of: KindVersion) {
  return { ...baseOf(of), code: of.source }
}

export function renderDataset(of: KindVersion) {
  return { ...namedOf(of), rows: textOrEmpty(of.val.rows) }
}

export function renderModel(of: KindVersion) {
  const rest = Object.entries(of.val).filter(([field]) => !SYSTEM_FIELDS.has(field))
  return { ...namedOf(of), source_code: of.source, attributes: Object.fromEntries(rest) }
}

export function renderScorer(of: KindVersion) {
  return { ...namedOf(of), score_op: textOrEmpty(of.val.score) }
}

export function renderEvaluation(of: KindVersion) {
  const { val } = of
  const scorers: readonly unknown[] = Array.isArray(val.scorers) ? val.scorers : []
  const trials = val.trials
  return {
    ...namedOf(of),
    dataset: textOrEmpty(val.dataset),
    scorers: scorers.filter((scorer) => typeof scorer === 'string'),
    trials: typeof trials === 'number' && Number.isInteger(trials) ? trials : 1,
    evaluation_name: textOrNull(val.evaluation_name),
    evaluate_op: textOrNull(val.evaluate),
    predict_and_score_op: textOrNull(val.predict_and_score),
    summarize_op: textOrNull(val.summarize),
  }
}
