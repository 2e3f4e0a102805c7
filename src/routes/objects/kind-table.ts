/** The kinds of objects, with the paths of their routes and what these accept and return. */
import type { z } from 'zod'
import { splitMembers } from '../../domain/json/json-members.ts'
import * as KINDS from '../../domain/objects/object-kinds.ts'
import type { ObjectVersion } from '../../domain/objects/object-view.ts'
import * as WIRE from '../../schemas/objects/object-kinds.ts'
import type { KindWriter } from './kind-store.ts'

/** One kind: everything in which its routes differ. */
export interface ObjectKind<Body extends z.ZodType = z.ZodType> {
  readonly kind: KINDS.KindName
  /** Segment of the address, and the noun in the OpenAPI document, in the singular and with a capital. */
  readonly path: string
  readonly word: string
  readonly createRequest: Body
  readonly createResponse: z.ZodType
  readonly readResponse: z.ZodType
  /** Field of the response to a creation that has the ref; null when none has. */
  readonly refField: string | null
  /** Stores the parts of the content, then the content. @param bodyText - text of the request */
  create(body: z.infer<Body>, writer: KindWriter, bodyText: string): Promise<ObjectVersion>
  render(version: KINDS.KindVersion): unknown
}

function kindOf<Body extends z.ZodType>(kind: ObjectKind<Body>): ObjectKind {
  return kind as unknown as ObjectKind
}

export const OBJECT_KINDS: readonly ObjectKind[] = [
  kindOf({
    kind: 'op',
    path: 'ops',
    word: 'Op',
    refField: null,
    createRequest: WIRE.OpCreateRequest,
    createResponse: WIRE.KindCreateResponse,
    readResponse: WIRE.OpVersion,
    create: ({ name, source_code }, writer) =>
      writer.publishOp(KINDS.toObjectId(name, 'Op'), source_code ?? ''),
    render: KINDS.renderOp,
  }),
  kindOf({
    kind: 'dataset',
    path: 'datasets',
    word: 'Dataset',
    refField: null,
    createRequest: WIRE.DatasetCreateRequest,
    createResponse: WIRE.KindCreateResponse,
    readResponse: WIRE.DatasetVersion,
    async create({ name, description }, writer, bodyText) {
      const rows = await writer.storeRows(splitMembers(bodyText).get('rows') ?? '[]')
      const fields = { name: name ?? 'Dataset', description: description ?? null, rows }
      const val = KINDS.classContent('dataset', fields)
      return writer.publish(KINDS.toObjectId(name, 'Dataset'), val)
    },
    render: KINDS.renderDataset,
  }),
  kindOf({
    kind: 'model',
    path: 'models',
    word: 'Model',
    refField: 'model_ref',
    createRequest: WIRE.ModelCreateRequest,
    createResponse: WIRE.ModelCreateResponse,
    readResponse: WIRE.ModelVersion,
    async create({ name, description, source_code, attributes }, writer) {
      KINDS.requireAdditionalFields(attributes, {}, 'attributes')
      const files = { [KINDS.SOURCE_FILE]: await writer.storeSource(source_code) }
      const fields = { ...attributes, name, description: description ?? null, files }
      return writer.publish(KINDS.toObjectId(name, 'Model'), KINDS.classContent('model', fields))
    },
    render: KINDS.renderModel,
  }),
  kindOf({
    kind: 'scorer',
    path: 'scorers',
    word: 'Scorer',
    refField: 'scorer',
    createRequest: WIRE.ScorerCreateRequest,
    createResponse: WIRE.ScorerCreateResponse,
    readResponse: WIRE.ScorerVersion,
    async create({ name, description, op_source_code }, writer) {
      const op = await writer.publishOp(KINDS.toObjectId(name, 'Scorer', '_score'), op_source_code)
      const fields = { name, description: description ?? null, score: writer.refTo(op) }
      return writer.publish(KINDS.toObjectId(name, 'Scorer'), KINDS.classContent('scorer', fields))
    },
    render: KINDS.renderScorer,
  }),
  kindOf({
    kind: 'evaluation',
    path: 'evaluations',
    word: 'Evaluation',
    refField: 'evaluation_ref',
    createRequest: WIRE.EvaluationCreateRequest,
    createResponse: WIRE.EvaluationCreateResponse,
    readResponse: WIRE.EvaluationVersion,
    async create({ eval_attributes, ...body }, writer) {
      const { name, description, dataset, scorers, trials, evaluation_name } = body
      const own = {
        name,
        description: description ?? null,
        dataset,
        scorers: scorers ?? [],
        trials: trials ?? 1,
        evaluation_name: evaluation_name ?? null,
      }
      KINDS.requireAdditionalFields(eval_attributes, own, 'eval_attributes')
      const val = KINDS.classContent('evaluation', { ...eval_attributes, ...own })
      return writer.publish(KINDS.toObjectId(name, 'Evaluation'), val)
    },
    render: KINDS.renderEvaluation,
  }),
]
