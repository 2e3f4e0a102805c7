/**
 * Files on the wire: uploaded as a form, downloaded as bytes.
 *
 * Spec: §4 (bodies are JSON unless stated; files are not shown). Choice: the routes of the public clients.
 */
import { z } from 'zod'
import { ProjectId } from '../primitives.ts'
import { ExpectedDigest } from './object.ts'

/** The fields of the form other than the file. */
export const FileCreateFields = z.strictObject({
  project_id: ProjectId,
  expected_digest: ExpectedDigest,
})

/** The whole form, for the OpenAPI document. */
export const FileCreateForm = z.object({
  ...FileCreateFields.shape,
  file: z.string().meta({ format: 'binary' }).describe('The bytes.'),
})

export const FileCreateResponse = z.object({
  digest: z.string().describe('Digest of the bytes.'),
})

export const FileContentRequest = z.strictObject({
  project_id: ProjectId,
  digest: z
    .string()
    .regex(/^[0-9a-zA-Z]{1,128}$/, 'must be a digest')
    .describe('Digest of the bytes.'),
})

export const FilesStatsResponse = z.object({
  total_size_bytes: z.int().describe('Bytes of all files of the project.'),
})
