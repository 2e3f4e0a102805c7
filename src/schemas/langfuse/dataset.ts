/**
 * Datasets, their items and runs on the wire of Langfuse's API.
 *
 * Spec: none, an addition. Choice: the names that its SDKs send and read; unknown ones are dropped.
 */
import { z } from 'zod'
import { ClientId, nameOf, Timestamp } from '../primitives.ts'
import { PageQuery } from './page.ts'

const NAME_MAX = 256
const DESCRIPTION_MAX = 65_536

const name = nameOf(NAME_MAX)
const id = ClientId.nullish()
const anything = z.unknown().optional()

export const DatasetBody = z.object({
  name,
  description: z.string().max(DESCRIPTION_MAX).nullish(),
  metadata: anything,
  inputSchema: anything,
  expectedOutputSchema: anything,
})
export type DatasetBody = z.output<typeof DatasetBody>

export const DatasetPath = z.object({ datasetName: name })

export const DatasetsQuery = z.object(PageQuery)

export const DatasetItemBody = z.object({
  datasetName: name,
  id,
  input: anything,
  expectedOutput: anything,
  metadata: anything,
  sourceTraceId: id,
  sourceObservationId: id,
  status: z.enum(['ACTIVE', 'ARCHIVED']).nullish(),
})
export type DatasetItemBody = z.output<typeof DatasetItemBody>

export const DatasetItemPath = z.object({ id: ClientId })

export const DatasetItemsQuery = z.object({
  ...PageQuery,
  datasetName: name,
  sourceTraceId: ClientId.optional(),
  sourceObservationId: ClientId.optional(),
  version: Timestamp.optional(),
})

export const RunItemBody = z.object({
  runName: name,
  runDescription: z.string().max(DESCRIPTION_MAX).nullish(),
  metadata: anything,
  datasetItemId: ClientId,
  traceId: id,
  observationId: id,
})

export const RunPath = z.object({ datasetName: name, runName: name })

export const RunItemsQuery = z.object({ ...PageQuery, datasetId: name, runName: name })
