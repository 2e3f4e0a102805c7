/**
 * Scores on the wire of Langfuse's API.
 *
 * Spec: none, an addition. Choice: the names that its SDKs send and read; unknown ones are dropped.
 */
import { z } from 'zod'
import { ClientId, nameOf, Timestamp } from '../primitives.ts'
import { CursorQuery, listOf, PageQuery } from './page.ts'

const SCORE_TYPES = ['NUMERIC', 'BOOLEAN', 'CATEGORICAL', 'TEXT', 'CORRECTION'] as const
export type ScoreType = (typeof SCORE_TYPES)[number]

const NAME_MAX = 256
const TEXT_MAX = 65_536
/** Limit: scores of one request; the Python SDK sends 15 and the JavaScript SDK 100. */
const SCORES_MAX = 1000

const id = ClientId.nullish()
const name = nameOf(NAME_MAX)

export const ScoreBody = z.object({
  id,
  traceId: id,
  observationId: id,
  sessionId: nameOf(NAME_MAX).nullish(),
  datasetRunId: id,
  name,
  /** A number or a text; a number may be held as its text. */
  value: z.unknown(),
  dataType: z.enum(SCORE_TYPES).nullish(),
  comment: z.string().max(TEXT_MAX).nullish(),
  metadata: z.unknown().optional(),
  environment: name.nullish(),
  configId: id,
  queueId: id,
  timestamp: Timestamp.nullish(),
})
export type ScoreBody = z.infer<typeof ScoreBody>

/** One score, or many that are checked one by one. */
export const ScoresRequest = z.union([
  z.array(z.unknown()).min(1).max(SCORES_MAX),
  z.looseObject({}),
])

export const ScorePath = z.object({ scoreId: ClientId })

/** Conditions that both lists of scores share; names may be several, joined by commas. */
const conditions = {
  name: listOf(NAME_MAX).optional(),
  environment: listOf(NAME_MAX).optional(),
  fromTimestamp: Timestamp.optional(),
  toTimestamp: Timestamp.optional(),
  configId: listOf(NAME_MAX).optional(),
  queueId: listOf(NAME_MAX).optional(),
  traceId: listOf(NAME_MAX).optional(),
  sessionId: listOf(NAME_MAX).optional(),
  observationId: listOf(NAME_MAX).optional(),
  dataType: listOf(NAME_MAX).optional(),
}

export const ScoresPageQuery = z.object({
  ...PageQuery,
  ...conditions,
  scoreIds: listOf(NAME_MAX).optional(),
  datasetRunId: listOf(NAME_MAX).optional(),
})

export const ScoresCursorQuery = z.object({
  ...CursorQuery,
  ...conditions,
  id: listOf(NAME_MAX).optional(),
  experimentId: listOf(NAME_MAX).optional(),
  value: z.string().max(TEXT_MAX).optional(),
  valueMin: z.coerce.number().optional(),
  valueMax: z.coerce.number().optional(),
})

/** What the lists filter by. */
export type ScoreConditions = z.output<typeof ScoresPageQuery> & z.output<typeof ScoresCursorQuery>

/** A batch of events, of which those of scores are stored. Each is checked on its own. */
export const IngestionRequest = z.object({ batch: z.array(z.unknown()).max(SCORES_MAX) })

export const IngestionEvent = z.object({
  id: ClientId,
  type: z.string().max(NAME_MAX),
  body: z.unknown(),
})
