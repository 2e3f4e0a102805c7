/**
 * Media of traces on the wire of Langfuse's API.
 *
 * Spec: none, an addition. Choice: the names that its SDKs send and read; unknown ones are dropped.
 */
import { z } from 'zod'
import { nameOf, Timestamp } from '../primitives.ts'

const NAME_MAX = 256
const ERROR_MAX = 10_000

const name = nameOf(NAME_MAX)

export const MediaUploadRequest = z.object({
  traceId: name.nullish(),
  observationId: name.nullish(),
  datasetId: name.nullish(),
  datasetItemId: name.nullish(),
  field: name,
  contentType: z
    .string()
    .max(NAME_MAX)
    .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type, such as image/png'),
  contentLength: z.int().min(1),
  sha256Hash: z.string().regex(/^[A-Za-z0-9+/]{43}=$/, 'must be SHA-256 in base64'),
})
export type MediaUploadRequest = z.output<typeof MediaUploadRequest>

export const MediaPath = z.object({
  mediaId: z.string().regex(/^[A-Za-z0-9_-]{22}$/, 'must be the id of a media record'),
})

export const MediaReport = z.object({
  uploadedAt: Timestamp,
  uploadHttpStatus: z.int(),
  uploadHttpError: z.string().max(ERROR_MAX).nullish(),
  uploadTimeMs: z.number().nullish(),
})

export const MediaTokenPath = z.object({ token: z.string().max(NAME_MAX) })
