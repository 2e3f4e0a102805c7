/** Files of the worker protocol: downloads of payloads and parents, uploads of artifacts. Spec: §4.8 (not shown). */
import { createHash } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { requireDigest } from '../../domain/objects/digests.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import { takesGzip } from '../../http/accept-encoding.ts'
import type { App } from '../../http/app-type.ts'
import { requireDeclaredBytes } from '../../http/body/declared-bytes.ts'
import { bytesResponse } from '../../http/document/responses.ts'
import {
  ARTIFACT_SHA256_HEADER,
  ArtifactBody,
  ArtifactHeaders,
  ArtifactResponse,
  JobParams,
  JobPayload,
  LEASE_HEADER,
  LeaseHeaders,
} from '../../schemas/training/worker.ts'
import type { Stores } from '../../store/api/stores.ts'
import type {
  Lease,
  TrainingJobStore,
  TrainingQueue,
} from '../../store/api/training/training-queue.ts'
import { readChunks } from '../../training/jobs/training-body.ts'

export interface WorkerFilesOptions extends Pick<Stores, 'checkpoints'>, Pick<Clock, 'nowUs'> {
  readonly queue: TrainingQueue
  readonly jobs: TrainingJobStore
  readonly artifactBytesMax: number
}

const SHA256 = /^[0-9a-f]{64}$/
const tags = ['worker']
const url = '/v1/preview/worker/jobs/:job_id'

export async function workerFileRoutes(app: App, options: WorkerFilesOptions): Promise<void> {
  addPayload(app, options)
  addParentArtifact(app, options)
  await app.register(async (uploads: App) => addArtifact(uploads, options))
}

/** Returns the lease that a worker claims to hold, in the form of the store, which has only hashes of tokens. */
export function leaseOf(job_id: string, lease_token: unknown, now_us: number): Lease {
  const token_hash = createHash('sha256').update(String(lease_token)).digest('hex')
  return { job_id: job_id.toLowerCase(), token_hash, now_us }
}

function addPayload(app: App, { queue, jobs, nowUs }: WorkerFilesOptions): void {
  app.get(
    `${url}/payload`,
    {
      schema: {
        tags,
        operationId: 'downloadJobPayload',
        summary: 'Download the trajectory groups of a leased job, exactly as the client sent them.',
        params: JobParams,
        headers: LeaseHeaders,
        shown: { headers: LeaseHeaders.required(), response: { 200: JobPayload } },
      },
    },
    async (request, reply) => {
      const lease = leaseOf(request.params.job_id, request.headers[LEASE_HEADER], nowUs())
      const { job } = await queue.findLeased(lease)
      const content = await jobs.openPayload(job)
      reply.type('application/json').header(ARTIFACT_SHA256_HEADER, job.payload_sha256)
      if (!takesGzip(request)) {
        return reply.header('content-length', job.payload_bytes).send(content)
      }
      // The last stream reports failures to the framework.
      const packed = pipeline(content, createGzip(), () => undefined)
      return reply.header('content-encoding', 'gzip').send(packed)
    },
  )
}

function addParentArtifact(app: App, { queue, checkpoints, nowUs }: WorkerFilesOptions): void {
  app.get(
    `${url}/parent-artifact`,
    {
      schema: {
        tags,
        operationId: 'downloadParentArtifact',
        summary: 'Download the weights that a leased job resumes from.',
        params: JobParams,
        headers: LeaseHeaders,
        shown: {
          headers: LeaseHeaders.required(),
          response: { 200: bytesResponse('The weights as a file.') },
        },
      },
    },
    async (request, reply) => {
      const lease = leaseOf(request.params.job_id, request.headers[LEASE_HEADER], nowUs())
      const { parent } = await queue.findLeased(lease)
      const artifact = parent?.artifact ?? null
      if (artifact === null) throw new ApiError('checkpoint_not_found')
      return reply
        .type('application/octet-stream')
        .header('content-length', artifact.bytes)
        .header(ARTIFACT_SHA256_HEADER, artifact.sha256)
        .send(await checkpoints.openArtifact(artifact))
    },
  )
}

function addArtifact(app: App, { queue, artifactBytesMax, nowUs }: WorkerFilesOptions): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/octet-stream',
    async (_request: unknown, body: Readable) => body,
  )
  app.addContentTypeParser('*', (_request, _body, done) => {
    const message = 'Send the body as application/octet-stream.'
    done(new ApiError('unsupported_media_type', { message }), undefined)
  })
  app.put(
    `${url}/artifact`,
    {
      config: { bodyBytesMax: artifactBytesMax },
      schema: {
        tags,
        operationId: 'uploadArtifact',
        summary: 'Upload the weights that a leased job produced; complete makes them visible.',
        consumes: ['application/octet-stream'],
        shown: { body: ArtifactBody, headers: ArtifactHeaders.required() },
        params: JobParams,
        headers: ArtifactHeaders,
        response: { 200: ArtifactResponse },
      },
    },
    async (request) => {
      const { job_id } = request.params
      const token = request.headers[LEASE_HEADER]
      const expected = request.headers[ARTIFACT_SHA256_HEADER] ?? ''
      if (!SHA256.test(expected)) {
        const message = `${ARTIFACT_SHA256_HEADER} must be 64 hexadecimal digits in lower case.`
        throw new ApiError('invalid_header', { message, param: ARTIFACT_SHA256_HEADER })
      }
      requireDeclaredBytes(request.headers, artifactBytesMax)
      // Checked before the bytes are read: a worker that has lost the job must not upload them in vain.
      await queue.findLeased(leaseOf(job_id, token, nowUs()))
      const source = readChunks(request.body as Readable | undefined)
      const file = await queue.receiveArtifact(source, artifactBytesMax)
      try {
        requireDigest(expected, file.sha256, ARTIFACT_SHA256_HEADER)
        await file.stage(leaseOf(job_id, token, nowUs()))
        return { sha256: file.sha256, bytes: file.bytes }
      } finally {
        await file.discard()
      }
    },
  )
}
