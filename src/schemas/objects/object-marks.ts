/**
 * Tags and aliases of published objects on the wire.
 *
 * Spec: §2.1 (a ref ends in a version; tags and aliases are additions). Choice: the routes and rules of the public
 * tracing clients.
 */
import { z } from 'zod'
import { ProjectId } from '../primitives.ts'
import { ObjectId, ObjectVersion } from './object.ts'

/** Limit: names of one request. */
const NAMES_MAX = 100
const TAG_CHARS_MAX = 256

export const Tag = z
  .string()
  .max(TAG_CHARS_MAX)
  .regex(
    /^[-\p{L}\p{N}_]+(?: [-\p{L}\p{N}_]+)*$/u,
    'must consist of letters, digits, "-", "_" and single spaces between words',
  )
  .meta({ minLength: 1, pattern: '^[^\\x00-\\x20]+( [^\\x00-\\x20]+)*$' })

export const Alias = ObjectVersion.refine(
  (name) => name !== 'latest' && !/^v\d+$/.test(name),
  'must not be "latest" or "v" and a number, which name versions already',
)

const names = <T extends z.ZodType>(name: T, what: string) =>
  z.array(name).max(NAMES_MAX).describe(what)

export const TaggedVersionPath = z.object({
  object_id: ObjectId,
  digest: ObjectVersion,
})

export const AliasedObjectPath = z.object({ object_id: ObjectId })

export const TagsChangeRequest = z.strictObject({
  project_id: ProjectId,
  tags: names(Tag, 'The tags.'),
})

export const AliasesSetRequest = z.strictObject({
  project_id: ProjectId,
  digest: ObjectVersion,
  aliases: names(Alias, 'Names that lead to the version from now on.'),
})

export const AliasesRemoveRequest = z.strictObject({
  project_id: ProjectId,
  aliases: names(ObjectVersion, 'Names to take away.'),
})

export const TagsListResponse = z.object({
  tags: z.array(z.string()).describe('Tags, sorted and distinct; at most 10,000.'),
})

export const AliasesListResponse = z.object({
  aliases: z
    .array(z.string())
    .describe('Aliases, sorted and distinct, without `latest`; at most 10,000.'),
})
