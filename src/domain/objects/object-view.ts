/** Versions of objects in the format of the API. Pure. */
import { ApiError } from '../../errors.ts'
import type { ObjectSchema } from '../../schemas/objects/object.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { parseExact } from '../json/json-text.ts'
import type { ObjectClasses } from './object-content.ts'

/** A stored version. Times in microseconds. */
export interface ObjectVersion extends ObjectClasses {
  readonly project_id: string
  readonly object_id: string
  readonly digest: string
  readonly version_index: number
  /** 1 for the newest version that is not deleted. */
  readonly is_latest: 0 | 1
  readonly svc_user_id: string
  readonly created_at_us: number
  readonly deleted_at_us: number | null
  /** Bytes of the content. */
  readonly size_bytes: number
  /** JSON texts of sorted lists. */
  readonly tags_json: string
  readonly aliases_json: string
}

interface ObjectViewOptions {
  readonly include_storage_size?: boolean | null | undefined
  readonly include_tags_and_aliases?: boolean | null | undefined
}

/**
 * A version as clients read it.
 *
 * @param val_json - its content, or null when it is left out: then `val` is an empty object
 */
export function renderObject(
  version: ObjectVersion,
  val_json: string | null,
  options: ObjectViewOptions,
): ObjectSchema {
  const { created_at_us, deleted_at_us, size_bytes, tags_json, aliases_json, ...named } = version
  const latest = version.is_latest === 1 ? ['latest'] : []
  return {
    ...named,
    created_at: renderTimestamp(created_at_us),
    deleted_at: renderTimestampOrNull(deleted_at_us),
    val: val_json === null ? {} : parseExact(val_json),
    ...(options.include_storage_size ? { size_bytes } : {}),
    ...(options.include_tags_and_aliases
      ? { tags: JSON.parse(tags_json), aliases: [...latest, ...JSON.parse(aliases_json)] }
      : {}),
  }
}

/**
 * Refuses a version that is unknown or deleted.
 *
 * @throws ApiError object_not_found; its message has `deleted_at` for a deleted one
 *
 * Spec: §7 row 4. Choice: a deleted version says when, so that nobody waits for it to appear.
 */
export function requireObject<Version extends Pick<ObjectVersion, 'deleted_at_us'>>(
  version: Version | null,
): Version {
  if (version === null) throw new ApiError('object_not_found', { param: 'digest' })
  if (version.deleted_at_us === null) return version
  const message = `The object was deleted (deleted_at: ${renderTimestamp(version.deleted_at_us)}).`
  throw new ApiError('object_not_found', { message, param: 'digest' })
}

/** A version in a ref: `latest`, its number, or the digest of its content and failing that an alias. */
type VersionName =
  | { readonly kind: 'latest' }
  | { readonly kind: 'number'; readonly version_index: number }
  | { readonly kind: 'digest or alias'; readonly text: string }

/** Limit: greater numbers are digests, as no object has so many versions. */
const VERSION_NUMBER = /^v\d{1,15}$/

/** Parses the version in a ref. */
export function parseVersionName(text: string): VersionName {
  if (text === 'latest') return { kind: 'latest' }
  if (VERSION_NUMBER.test(text)) return { kind: 'number', version_index: Number(text.slice(1)) }
  return { kind: 'digest or alias', text }
}
