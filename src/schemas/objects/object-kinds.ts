/**
 * Objects by kind on the wire: ops, datasets, models, scorers and evaluations.
 *
 * Spec: §2.1 (object and op refs; these routes are additions). Choice: the routes and fields of the public tracing
 * clients.
 */
import { z } from 'zod'
import { AnyRef, FreeObject, nameOf, ProjectPath, Time } from '../primitives.ts'
import { countedPage } from '../query/page-query.ts'
import { ObjectId, ObjectVersion } from './object.ts'
import { TABLE_ROWS_MAX } from './table.ts'

const NAME_MAX = 128
const DESCRIPTION_MAX = 65_536
/** Limit: characters of one source code text. */
export const SOURCE_CHARACTERS_MAX = 1024 * 1024
const SCORERS_MAX = 1000
const TRIALS_MAX = 1_000_000
/** Limit: versions named by one deletion. */
const DIGESTS_MAX = 1000
/** Limit: versions of one response; also the default. */
export const KINDS_LIMIT_MAX = 1000

const Name = nameOf(NAME_MAX)
const name = Name.describe('Name of the object; publishing it again adds a version.')
const description = z.string().max(DESCRIPTION_MAX).nullish().describe('Description.')
const source = (what: string) => z.string().max(SOURCE_CHARACTERS_MAX).describe(what)

export const OpCreateRequest = z.strictObject({
  name: Name.nullish().describe(
    'Name of the object; publishing it again adds a version. Default `Op`.',
  ),
  source_code: source('Source of the op with its imports.')
    .nullish()
    .describe('Source code of the op with its imports. Default none.'),
})

export const DatasetCreateRequest = z.strictObject({
  name: Name.nullish().describe(
    'Name of the object; publishing it again adds a version. Default `Dataset`.',
  ),
  description,
  rows: z.array(FreeObject).max(TABLE_ROWS_MAX).describe('Rows, in order; each an object.'),
})

export const ModelCreateRequest = z.strictObject({
  name,
  description,
  source_code: source('Source of the class with its imports.'),
  attributes: FreeObject.nullish().describe('Further fields of the model.'),
})

export const ScorerCreateRequest = z.strictObject({
  name,
  description,
  op_source_code: source('Source of the op that scores, with its imports.'),
})

export const EvaluationCreateRequest = z.strictObject({
  name,
  description,
  dataset: AnyRef.describe('Ref of the dataset.'),
  scorers: z
    .array(AnyRef)
    .max(SCORERS_MAX)
    .nullish()
    .describe('Refs of the scorers. Default none.'),
  trials: z
    .int()
    .min(1)
    .max(TRIALS_MAX)
    .nullish()
    .describe('Number of trials of each row. Default 1.'),
  evaluation_name: Name.nullish().describe('Name of its runs.'),
  eval_attributes: FreeObject.nullish().describe('Further fields of the evaluation.'),
})

const made = {
  digest: z.string().describe('Digest of the content.'),
  object_id: z.string().describe('Name of the object.'),
  version_index: z.int().describe('Number of the version, from 0.'),
}
const ref = z.string().describe('Ref of the version.')

export const KindCreateResponse = z.object(made)
export const ModelCreateResponse = z.object({ ...made, model_ref: ref })
export const ScorerCreateResponse = z.object({ ...made, scorer: ref })
export const EvaluationCreateResponse = z.object({ ...made, evaluation_ref: ref })

const read = {
  ...made,
  created_at: Time.describe('When it was published, UTC.'),
}
const named = {
  ...read,
  name: z.string().describe('Name in its content.'),
  description: z.string().nullable().describe('Description.'),
}
const text = z.string().nullable()

const SourceCode = z
  .string()
  .describe('Source code; empty when it has none, and in a list also when it cannot be read.')

export const OpVersion = z
  .object({ ...read, code: SourceCode })
  .meta({ id: 'OpVersion', description: 'A version of an op.' })

export const DatasetVersion = z
  .object({ ...named, rows: z.string().describe('Ref of its table of rows.') })
  .meta({ id: 'DatasetVersion', description: 'A version of a dataset.' })

export const ModelVersion = z
  .object({
    ...named,
    source_code: SourceCode,
    attributes: FreeObject.describe('All other fields of its content.'),
  })
  .meta({ id: 'ModelVersion', description: 'A version of a model.' })

export const ScorerVersion = z
  .object({ ...named, score_op: z.string().describe('Ref of the op that scores.') })
  .meta({ id: 'ScorerVersion', description: 'A version of a scorer.' })

export const EvaluationVersion = z
  .object({
    ...named,
    dataset: z.string().describe('Ref of the dataset.'),
    scorers: z.array(z.string()).describe('Refs of the scorers.'),
    trials: z.int().describe('Number of trials of each row.'),
    evaluation_name: text.describe('Name of its runs.'),
    evaluate_op: text.describe('Ref of its op `evaluate`, when it has one.'),
    predict_and_score_op: text.describe('Ref of its op `predict_and_score`, when it has one.'),
    summarize_op: text.describe('Ref of its op `summarize`, when it has one.'),
  })
  .meta({ id: 'EvaluationVersion', description: 'A version of an evaluation.' })

export const KindVersionPath = z.object({
  ...ProjectPath.shape,
  object_id: ObjectId,
  digest: ObjectVersion,
})

export const KindObjectPath = z.object({ ...ProjectPath.shape, object_id: ObjectId })

export const KindListQuery = z.strictObject(countedPage(KINDS_LIMIT_MAX))

export const KindReadQuery = z.strictObject({
  eager: z.enum(['true', 'false']).optional().describe('Ignored: reads are always consistent.'),
})

export const KindDeleteQuery = z.strictObject({
  digests: z
    .union([ObjectVersion, z.array(ObjectVersion).max(DIGESTS_MAX)])
    .optional()
    .describe('Versions to delete; all of the kind when absent.'),
})

export const KindDeleteResponse = z.object({
  num_deleted: z.int().describe('Number of deleted versions.'),
})
