/** Prepares a published object for the store. Pure; the caller provides user and time. */
import { ApiError } from '../../errors.ts'
import type { ObjectCreateRequest } from '../../schemas/objects/object.ts'
import { isObject } from '../json/is-object.ts'
import { splitMembers } from '../json/json-members.ts'
import { renderJson } from '../json/json-text.ts'
import { digestOfJson, requireDigest } from './digests.ts'

type ObjectKind = 'op' | 'object'

/** The classes that a content declares. */
export interface ObjectClasses {
  readonly kind: ObjectKind
  /** First class below the clients' own base classes; null for a value that is not an object of a class. */
  readonly base_object_class: string | null
  readonly leaf_object_class: string | null
}

/** A content with the version that it may become. Time in microseconds. */
export interface NewObject extends ObjectClasses {
  readonly project_id: string
  readonly object_id: string
  readonly digest: string
  readonly val_json: string
  readonly svc_user_id: string
  readonly created_at_us: number
  /** Number of the version that must be the latest, -1: there must be none; null or absent: any may be. */
  readonly expected_latest?: number | null
}

/** Classes that all serialized objects of the clients end in. */
const ROOT_CLASSES: readonly unknown[] = ['Object', 'BaseObject']

/**
 * Kind and classes of a content: an op is a custom type of the name `Op`; an object lists its classes in
 * `_bases`, from its own parent to `BaseModel`.
 *
 * Spec: §2.1 (object and op refs; what makes an op is not shown). Choice: as the public clients write it.
 */
export function classifyObject(val: unknown): ObjectClasses {
  const kind = isOp(val) ? 'op' : 'object'
  const none = { kind, base_object_class: null, leaf_object_class: null } as const
  if (!isObject(val) || !Array.isArray(val._bases)) return none
  const bases: readonly unknown[] = val._bases
  const isOfClients = bases.at(-1) === 'BaseModel' && ROOT_CLASSES.includes(bases.at(-2))
  if (!isOfClients || typeof val._class_name !== 'string') return none
  const base = bases.length > 2 ? bases.at(-3) : val._class_name
  return {
    kind,
    base_object_class: typeof base === 'string' ? base : val._class_name,
    leaf_object_class: val._class_name,
  }
}

/**
 * Resolves a content that is well-formed.
 *
 * @param bodyText - the text of the request, from which the content is taken byte for byte
 * @throws ApiError validation_failed for a class that does not fit, digest_mismatch
 *
 * Spec: §2.1 (digests are not explained). Choice: a class given beside the content is written into it, unchecked.
 */
export function resolveObject(
  obj: ObjectCreateRequest['obj'],
  bodyText: string,
  defaults: { readonly svc_user_id: string; readonly created_at_us: number },
): NewObject {
  const sent = splitMembers(splitMembers(bodyText).get('obj') ?? '{}').get('val') ?? 'null'
  const given = obj.builtin_object_class ?? obj.set_base_object_class ?? null
  const { val_json, classes } = withClass(sent, obj.val, given)
  const digest = digestOfJson(val_json)
  requireDigest(obj.expected_digest, digest, 'obj.expected_digest')
  const { project_id, object_id, expected_latest = null } = obj
  return { project_id, object_id, digest, val_json, expected_latest, ...classes, ...defaults }
}

function withClass(val_json: string, val: unknown, given: string | null) {
  const classes = classifyObject(val)
  const isFitting = given === null || given === classes.leaf_object_class
  if (isFitting) return { val_json, classes }
  if (!isObject(val) || classes.leaf_object_class !== null) {
    const message = 'obj.builtin_object_class must be the class of obj.val'
    throw new ApiError('validation_failed', { message, param: 'obj.builtin_object_class' })
  }
  const members = splitMembers(val_json)
  members.set('_type', renderJson(given))
  members.set('_class_name', renderJson(given))
  members.set('_bases', '["BaseObject","BaseModel"]')
  const text = [...members].map(([key, json]) => `${renderJson(key)}:${json}`).join(',')
  return {
    val_json: `{${text}}`,
    classes: { kind: 'object', base_object_class: given, leaf_object_class: given } as const,
  }
}

function isOp(val: unknown): boolean {
  return (
    isObject(val) &&
    val._type === 'CustomWeaveType' &&
    isObject(val.weave_type) &&
    val.weave_type.type === 'Op'
  )
}
