/**
 * Published objects on the wire: created, read, queried, deleted.
 *
 * Spec: §2.1 (object and op refs; how objects are published is not shown). Choice: the routes and fields of
 * the public tracing clients.
 */
import { z } from 'zod'
import { IgnoredUser, ProjectId, switchField, Time } from '../primitives.ts'
import { pageFields } from '../query/page-query.ts'
import { orderOf } from '../query/query-expression.ts'

/** Limit: entries of one list of a filter. */
const FILTER_ENTRIES_MAX = 1000
/** Limit: versions named by one deletion. */
const DIGESTS_MAX = 1000
/** Limit: objects of one response; also the default. */
export const OBJECTS_LIMIT_MAX = 10_000
const CLASS_NAME_MAX = 256

/** Spec: §2.1 name. Choice: letters and digits of any script, `_`, `.` and `-`, as clients make them. */
export const ObjectId = z
  .string()
  .regex(
    /^[\p{L}\p{N}_.-]{1,128}$/u,
    'must have 1 to 128 characters, of letters, digits, "_", "." and "-" only',
  )
  .meta({
    description: 'Name of the object: letters and digits of any script, `_`, `.` and `-`.',
    minLength: 1,
    maxLength: 128,
    // The pattern of the document covers ASCII; regular expression engines differ in their support of other
    // characters.
    pattern: '^[^\\x00-\\x2c/\\x3a-\\x40\\x5b-\\x5e\\x60\\x7b-\\x7f]+$',
  })

/** A version: `latest`, `v` and its number, the digest of its content, or an alias. */
export const ObjectVersion = z
  .string()
  .regex(/^(?! *$)[^/:\p{C}]{1,128}$/u, 'must be "latest", "v" and a number, a digest or an alias')
  .meta({
    description: 'Version: `latest`, `v0`, `v1`, ..., the digest of its content, or an alias.',
    minLength: 1,
    maxLength: 128,
    pattern: '^[^/:\\x00-\\x20]([^/:\\x00-\\x1f]*[^/:\\x00-\\x20])?$',
  })

const className = z.string().min(1).max(CLASS_NAME_MAX)

/** The digest that a client computed. */
export const ExpectedDigest = z
  .string()
  .max(128)
  .nullish()
  .describe(
    'Digest that the client expects; if the computed one differs, the request fails with digest_mismatch.',
  )

export const ObjectCreateRequest = z.strictObject({
  obj: z
    .strictObject({
      project_id: ProjectId,
      object_id: ObjectId,
      val: z.unknown().describe('Content; any JSON value.'),
      builtin_object_class: className
        .nullish()
        .describe('Class of an object that names none in `_class_name` and `_bases`.'),
      set_base_object_class: className.nullish().describe('Old name of builtin_object_class.'),
      expected_digest: ExpectedDigest,
      expected_latest: z
        .int()
        .min(-1)
        .nullish()
        .describe(
          'Number of the version that the client knows as the latest, -1 for none; if another is, the request fails with object_conflict.',
        ),
      svc_user_id: IgnoredUser,
    })
    .refine(({ val }) => val !== undefined, { path: ['val'], message: 'is required' })
    .describe('The object to publish.'),
})
export type ObjectCreateRequest = z.infer<typeof ObjectCreateRequest>

export const ObjectCreateResponse = z.object({
  digest: z.string().describe('Digest of the content.'),
  object_id: z.string().describe('Name of the object.'),
})

export const ObjectReadRequest = z.strictObject({
  project_id: ProjectId,
  object_id: ObjectId,
  digest: ObjectVersion,
  metadata_only: switchField('Whether to leave the content out; `val` is then {}.'),
  include_tags_and_aliases: switchField('Whether to fill tags and aliases.'),
})

export const ObjectSchema = z
  .object({
    project_id: z.string().describe('Project, `<entity>/<project>`.'),
    object_id: z.string().describe('Name of the object.'),
    created_at: Time.describe('When it was published, or published again after its deletion, UTC.'),
    deleted_at: Time.nullable().describe('Always null on a read.'),
    digest: z.string().describe('Digest of the content.'),
    version_index: z.int().describe('Number of the version, from 0.'),
    is_latest: z.int().describe('1 for the newest version that is not deleted, else 0.'),
    kind: z.string().describe('`op` or `object`.'),
    base_object_class: z.string().nullable().describe('Base class of the object.'),
    leaf_object_class: z.string().nullable().describe('Class of the object.'),
    val: z.unknown().describe('Content; any JSON value.'),
    svc_user_id: z.string().nullable().describe('User whose key published it then.'),
    size_bytes: z.int().optional().describe('Bytes of the content; only when requested.'),
    tags: z.array(z.string()).optional().describe('Its tags, sorted; only when requested.'),
    aliases: z
      .array(z.string())
      .optional()
      .describe('Its aliases, `latest` first; only when requested.'),
  })
  .meta({ id: 'ObjectSchema', description: 'A version of a published object.' })
export type ObjectSchema = z.infer<typeof ObjectSchema>

export const ObjectReadResponse = z.object({ obj: ObjectSchema.describe('The version.') })

const names = (what: string) =>
  z.array(z.string().max(CLASS_NAME_MAX)).max(FILTER_ENTRIES_MAX).nullish().describe(what)

const flag = (what: string) => z.boolean().nullish().describe(what)

export const ObjectVersionFilter = z
  .strictObject({
    object_ids: names('Objects of these names.'),
    base_object_classes: names('Objects of these base classes.'),
    exclude_base_object_classes: names('No objects of these base classes.'),
    leaf_object_classes: names('Objects of these classes.'),
    is_op: flag('true: ops alone; false: no ops.'),
    latest_only: flag('true: of each object only the newest version.'),
    tags: names('Versions with one of these tags.'),
    aliases: names('Versions with one of these aliases, of which `latest` is one.'),
  })
  .meta({
    id: 'ObjectVersionFilter',
    description: 'Filter of versions; empty lists and null do not filter.',
  })
export type ObjectVersionFilter = z.infer<typeof ObjectVersionFilter>

export const ObjectQueryRequest = z.strictObject({
  project_id: ProjectId,
  filter: ObjectVersionFilter.nullish().describe('Which versions; all when absent.'),
  ...pageFields('versions', OBJECTS_LIMIT_MAX),
  sort_by: orderOf(['object_id', 'created_at']).describe('Order. Default: oldest first.'),
  metadata_only: switchField('Whether to leave the contents out; `val` is then {}.'),
  include_storage_size: switchField('Whether to fill size_bytes.'),
  include_tags_and_aliases: switchField('Whether to fill tags and aliases.'),
})
export type ObjectQueryRequest = z.infer<typeof ObjectQueryRequest>

export const ObjectQueryResponse = z.object({
  objs: z.array(ObjectSchema).describe('The versions that match.'),
})

export const ObjectDeleteRequest = z.strictObject({
  project_id: ProjectId,
  object_id: ObjectId,
  digests: z
    .array(ObjectVersion)
    .min(1)
    .max(DIGESTS_MAX)
    .nullish()
    .describe('Versions to delete; all when absent.'),
})

export const ObjectDeleteResponse = z.object({
  num_deleted: z.int().describe('Number of deleted versions.'),
  deleted_versions: z
    .array(
      z.object({
        digest: z.string().describe('Digest of the content.'),
        base_object_class: z.string().nullable().describe('Base class of the version.'),
        leaf_object_class: z.string().nullable().describe('Class of the version.'),
      }),
    )
    .describe('The result.'),
})
