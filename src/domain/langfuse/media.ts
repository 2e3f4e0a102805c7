/** Media records of Langfuse's SDKs: files, each with an object that names it by the id in traces. Pure. */
import type { MediaUploadRequest } from '../../schemas/langfuse/media.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { textOrNull } from '../json/json-values.ts'
import type { ObjectVersion } from '../objects/object-view.ts'

const MEDIA_CLASS = 'LangfuseMedia'
/** Characters of a hash that are the id of a media record. */
const ID_CHARS = 22
/** Characters of a digest. */
const DIGEST_CHARS = 43

export interface MediaFile {
  readonly digest: string
  readonly content_type: string
  readonly content_length: number
}

/** Returns the id that the SDKs compute, from SHA-256 in base64. */
export function mediaIdOf(sha256Hash: string): string {
  return sha256Hash.slice(0, ID_CHARS).replaceAll('+', '-').replaceAll('/', '_')
}

/** Returns the name of the object. */
export function mediaObjectId(mediaId: string): string {
  return `langfuse-media-${mediaId}`
}

/** Returns the file of an announced upload. */
export function mediaFileOf(request: MediaUploadRequest): MediaFile {
  const { sha256Hash, contentType: content_type, contentLength: content_length } = request
  const digest = sha256Hash.slice(0, DIGEST_CHARS).replaceAll('+', 'X').replaceAll('/', 'Y')
  return { digest, content_type, content_length }
}

/** The content of the object. */
export function mediaContent(file: MediaFile): object {
  return {
    ...file,
    _type: MEDIA_CLASS,
    _class_name: MEDIA_CLASS,
    _bases: ['Object', 'BaseModel'],
  }
}

/** Returns the file of an object; null for an object of another class. */
export function readMediaFile(
  { base_object_class }: Pick<ObjectVersion, 'base_object_class'>,
  val: Readonly<Record<string, unknown>>,
): MediaFile | null {
  if (base_object_class !== MEDIA_CLASS) return null
  const digest = textOrNull(val.digest)
  const content_type = textOrNull(val.content_type)
  const { content_length } = val
  if (digest === null || content_type === null || typeof content_length !== 'number') return null
  return { digest, content_type, content_length }
}

/** Renders a media record. @param url - at which its bytes are, until `expiresUs` */
export function renderMedia(
  mediaId: string,
  { content_type, content_length }: MediaFile,
  { created_at_us }: Pick<ObjectVersion, 'created_at_us'>,
  { url, expiresUs }: { readonly url: string; readonly expiresUs: number },
): object {
  return {
    mediaId,
    contentType: content_type,
    contentLength: content_length,
    uploadedAt: renderTimestamp(created_at_us),
    url,
    urlExpiry: renderTimestamp(expiresUs),
  }
}
