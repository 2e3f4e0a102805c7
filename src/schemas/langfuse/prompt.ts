/**
 * Prompts on the wire of Langfuse's API.
 *
 * Spec: none, an addition. Choice: the names that its SDKs send and read; unknown ones are dropped.
 */
import { z } from 'zod'
import { Alias, Tag } from '../objects/object-marks.ts'
import { FreeObject, nameOf, Timestamp } from '../primitives.ts'
import { PageQuery } from './page.ts'

const NAME_MAX = 256
const MARKS_MAX = 50
const COMMIT_MAX = 500
/** Limits: characters of a text, and messages. */
const TEXT_MAX = 1_000_000
const MESSAGES_MAX = 1000

const name = nameOf(NAME_MAX)
const version = z.coerce.number().int().min(1).max(1_000_000_000)
const labels = z
  .array(z.string())
  .max(MARKS_MAX)
  // The newest version has it anyway.
  .transform((names) => names.filter((label) => label !== 'latest'))
  .pipe(z.array(Alias))

export const PromptCreateRequest = z.object({
  name,
  type: z.enum(['text', 'chat']).nullish(),
  prompt: z.union([z.string().max(TEXT_MAX), z.array(FreeObject).max(MESSAGES_MAX)]),
  config: z.unknown().optional(),
  labels: labels.nullish(),
  tags: z.array(Tag).max(MARKS_MAX).nullish(),
  commitMessage: z.string().max(COMMIT_MAX).nullish(),
})
export type PromptCreateRequest = z.output<typeof PromptCreateRequest>

export const PromptPath = z.object({ promptName: name })

export const PromptQuery = z.object({ version: version.optional(), label: name.optional() })
export type PromptQuery = z.output<typeof PromptQuery>

export const PromptVersionPath = z.object({ promptName: name, version })

export const PromptLabelsRequest = z.object({ newLabels: labels })

export const PromptsQuery = z.object({
  ...PageQuery,
  name: name.optional(),
  label: name.optional(),
  tag: name.optional(),
  fromUpdatedAt: Timestamp.optional(),
  toUpdatedAt: Timestamp.optional(),
})
export type PromptsQuery = z.output<typeof PromptsQuery>
