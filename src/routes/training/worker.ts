/**
 * The worker protocol: a worker claims a job under a lease, runs it and submits the result. docs/training.md
 * describes it from the worker's side.
 *
 * Spec: §4.8 (nothing of the spec runs a job). Choice: leases over HTTP, so that a worker needs no open port.
 */
import { randomBytes } from 'node:crypto'
import { keyOfHeaders } from '../../domain/access/credentials.ts'
import { canUseProject, type Principal, requireScope } from '../../domain/access/permissions.ts'
import { modelProjectId } from '../../domain/models/preview-model.ts'
import { createOrderedIds } from '../../domain/time/ordered-ids.ts'
import { leaseLost } from '../../domain/training/training-states.ts'
import { renderClaim } from '../../domain/training/worker-view.ts'
import type { App } from '../../http/app-type.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import {
  ClaimRequest,
  ClaimResponse,
  CompleteRequest,
  CompleteResponse,
  FailRequest,
  HeartbeatRequest,
  HeartbeatResponse,
  JobEventsRequest,
  JobParams,
  LeaseEndResponse,
  NoContent,
  ReleaseRequest,
  WorkerAck,
} from '../../schemas/training/worker.ts'
import {
  createJobClaims,
  type JobClaims,
  type JobClaimsOptions,
} from '../../training/jobs/job-claims.ts'
import { leaseOf, type WorkerFilesOptions, workerFileRoutes } from './worker-files.ts'

interface WorkerRoutesOptions
  extends Omit<JobClaimsOptions, 'onFault'>,
    Omit<WorkerFilesOptions, 'queue'> {
  readonly findPrincipal: (key: string) => Promise<Principal | null>
}

const TOKEN_BYTES = 32
const MS_PER_S = 1000
const tags = ['worker']
const url = '/v1/preview/worker'

export async function workerRoutes(app: App, options: WorkerRoutesOptions): Promise<void> {
  const { queue, settings, clock } = options
  const onFault = (error: unknown) => app.log.error({ err: error }, 'the training queue failed')
  const claims = createJobClaims({ queue, settings, clock, onFault })
  app.addHook('onReady', () => claims.start())
  app.addHook('onClose', async () => claims.close())
  app.addHook('onRequest', async (request) => {
    requireScope(request.principal, 'worker')
  })
  app.addHook('preHandler', async (request) => {
    const { job_id } = request.params as { readonly job_id?: string }
    if (job_id !== undefined) await requireOwnJob(request.principal, job_id, options)
  })
  app.addHook('preHandler', () => claims.settle())
  addClaim(app, claims, options)
  addHeartbeat(app, options)
  addEvents(app, options)
  addComplete(app, options)
  addEnds(app, claims, options)
  await app.register(workerFileRoutes, options)
}

/**
 * Refuses a job of a project that the key may not use, whatever its token. It reads as a job that
 * does not exist, so that ids of others cannot be probed.
 *
 * @throws ApiError scope_missing, lease_lost
 */
async function requireOwnJob(
  principal: Principal | null,
  job_id: string,
  { jobs }: WorkerRoutesOptions,
): Promise<void> {
  const caller = requireScope(principal, 'worker')
  const view = await jobs.findJobView(job_id.toLowerCase())
  if (view === null || !canUseProject(caller, modelProjectId(view.model))) throw leaseLost()
}

function addClaim(app: App, claims: JobClaims, options: WorkerRoutesOptions): void {
  const { settings, findPrincipal } = options
  app.post(
    `${url}/claim`,
    {
      schema: {
        tags,
        operationId: 'claimJob',
        summary: 'Claim the oldest job that may run, or wait for one; 204 when there is none.',
        body: ClaimRequest,
        response: { 200: ClaimResponse, 204: NoContent },
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'worker')
      const { worker_id, worker_version, base_models, wait_seconds = 0 } = request.body
      const lease_token = randomBytes(TOKEN_BYTES).toString('base64url')
      const { token_hash: lease_token_hash } = leaseOf('', lease_token, 0)
      const signal = app.openWait(reply).signal
      const wanted = {
        lease_token_hash,
        worker_id,
        worker_version,
        base_models,
        projects: caller.projects,
      }
      const isAllowed = async () =>
        (await findPrincipal(keyOfHeaders(request.headers) ?? '')) !== null
      const claimed = await claims.claim(wanted, wait_seconds * MS_PER_S, { signal, isAllowed })
      if (claimed === null) return reply.code(204).send(undefined)
      return renderClaim(claimed, { lease_token, lease_ms: settings.leaseMs })
    },
  )
}

function addHeartbeat(app: App, { queue, settings, nowUs }: WorkerRoutesOptions): void {
  app.post(
    `${url}/jobs/:job_id/heartbeat`,
    {
      schema: {
        tags,
        operationId: 'renewLease',
        summary: 'Renew the lease; the answer says whether a client has cancelled the job.',
        params: JobParams,
        body: HeartbeatRequest,
        response: { 200: HeartbeatResponse },
      },
    },
    async (request) => {
      const { lease_token, progress = null } = request.body
      const lease = leaseOf(request.params.job_id, lease_token, nowUs())
      const job = await queue.renewLease(lease, { lease_ms: settings.leaseMs, progress })
      return {
        lease_expires_at: renderTimestamp(job.lease_expires_at_us ?? 0),
        cancel_requested: job.cancel_requested === 1,
      }
    },
  )
}

function addEvents(app: App, { queue, nowUs }: WorkerRoutesOptions): void {
  app.post(
    `${url}/jobs/:job_id/events`,
    {
      schema: {
        tags,
        operationId: 'reportJobEvents',
        summary: 'Report events; events that were reported before are ignored.',
        params: JobParams,
        body: JobEventsRequest,
        response: { 200: WorkerAck },
      },
    },
    async (request) => {
      const { lease_token, events } = request.body
      await queue.recordEvents(leaseOf(request.params.job_id, lease_token, nowUs()), events)
      return { ok: true as const }
    },
  )
}

function addComplete(app: App, { queue, nowUs }: WorkerRoutesOptions): void {
  const newId = createOrderedIds(nowUs, randomBytes)
  app.post(
    `${url}/jobs/:job_id/complete`,
    {
      schema: {
        tags,
        operationId: 'completeJob',
        summary: 'Complete the job with a checkpoint; repeating the request returns the same one.',
        params: JobParams,
        body: CompleteRequest,
        response: { 200: CompleteResponse },
      },
    },
    async (request) => {
      const { lease_token, sha256 = null, metrics, trained, reason = null } = request.body
      const lease = leaseOf(request.params.job_id, lease_token, nowUs())
      const { id, step } = await queue.completeJob(lease, {
        checkpoint_id: newId(),
        sha256,
        metrics: trained ? metrics : { num_groups_trainable: 0, ...metrics },
        reason,
      })
      return { checkpoint: { id, step } }
    },
  )
}

function addEnds(app: App, claims: JobClaims, { queue, nowUs }: WorkerRoutesOptions): void {
  app.post(
    `${url}/jobs/:job_id/fail`,
    {
      schema: {
        tags,
        operationId: 'failJob',
        summary: 'Report a failed attempt; the job is queued again if a retry may help.',
        params: JobParams,
        body: FailRequest,
        response: { 200: LeaseEndResponse },
      },
    },
    async (request) => {
      const { lease_token, error, retryable: isRetryable } = request.body
      const { queue_timeout_ms: _, ...end } = claims.times()
      const lease = leaseOf(request.params.job_id, lease_token, end.now_us)
      const { state } = await queue.failAttempt(lease, { ...error, isRetryable }, end)
      return { status: state as LeaseEndResponse['status'] }
    },
  )
  app.post(
    `${url}/jobs/:job_id/release`,
    {
      schema: {
        tags,
        operationId: 'releaseJob',
        summary: 'Release the job for another worker; the attempt does not count.',
        params: JobParams,
        body: ReleaseRequest,
        response: { 200: LeaseEndResponse },
      },
    },
    async (request) => {
      const lease = leaseOf(request.params.job_id, request.body.lease_token, nowUs())
      const { state } = await queue.releaseJob(lease)
      return { status: state as LeaseEndResponse['status'] }
    },
  )
}
