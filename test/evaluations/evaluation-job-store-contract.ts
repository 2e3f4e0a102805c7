/** What the store of evaluations on the server promises in every database. */
import { describe, expect, it } from 'vitest'
import { Scorer } from '../../src/schemas/evaluators/scorer.ts'
import {
  type EvaluationJob,
  type EvaluationJobStore,
  JOBS_PER_PROJECT_MAX,
} from '../../src/store/api/evaluations/evaluation-jobs.ts'

const MINUTE_US = 60_000_000

export function jobOf(more: Partial<EvaluationJob> = {}): EvaluationJob {
  return {
    id: 'job',
    project_id: 'acme/demo',
    work: { kind: 'score', call_ids: ['c'], scorer_refs: ['weave:///acme/demo/object/s:v0'] },
    principal: { keyId: 'k', svc_user_id: 'u', svc_username: 'U', scopes: [], projects: [] },
    created_at_us: 1,
    state: 'running',
    completed_rows: 0,
    total_rows: 1,
    attempts: 0,
    error: null,
    output_json: null,
    ...more,
  }
}

const claimAt = (now_us: number, claim_id: string) => ({
  claim_id,
  now_us,
  until_us: now_us + MINUTE_US,
})

/** @param create - an empty store that closes itself when the test ends */
export function describeEvaluationJobContract(
  name: string,
  create: () => Promise<EvaluationJobStore>,
): void {
  describe(`the store of evaluations on the server: ${name}`, () => {
    it('hands a job out to one process, and to the next when its claim has ended', async () => {
      const jobs = await create()
      await jobs.createJob(jobOf())
      const claims = await Promise.all(['a', 'b', 'c'].map((id) => jobs.claimJob(claimAt(10, id))))
      expect(claims.filter((one) => one !== null)).toEqual([jobOf({ attempts: 1 })])
      const holder = ['a', 'b', 'c'][claims.findIndex((one) => one !== null)] ?? ''
      const renewed = { ...claimAt(20, holder), id: 'job', completed_rows: 1 }
      expect(await jobs.renewClaim(renewed)).toBe(true)
      expect(await jobs.claimJob(claimAt(MINUTE_US + 15, 'd'))).toBeNull()
      expect(await jobs.claimJob(claimAt(MINUTE_US + 20, 'd'))).toMatchObject({ attempts: 2 })
      expect(await jobs.renewClaim(renewed)).toBe(false)
      const end = { id: 'job', completed_rows: 1, error: null, output_json: '{}' } as const
      expect(await jobs.finishJob({ ...end, state: 'complete', claim_id: holder })).toBe(false)
      expect(await jobs.finishJob({ ...end, state: 'complete', claim_id: 'd' })).toBe(true)
      expect(await jobs.findJob('acme/demo', 'job')).toMatchObject({ state: 'complete' })
      expect(await jobs.findJob('acme/other', 'job')).toBeNull()
      expect(await jobs.cancelJob('acme/demo', 'job')).toBe(false)
    })

    it.each(['finished', 'cancelled'])(
      'removes the prompts of a comparison that is %s',
      async (how) => {
        const jobs = await create()
        const work = {
          kind: 'compare',
          models: ['a', 'b'],
          prompts: [{ messages: [{ role: 'user', content: 'Hi' }] }],
          scorer: Scorer.parse({ kind: 'rule', rule: { type: 'contains', texts: ['a'] } }),
          samples: 1,
          parameters: {},
          seed: 0,
        } as const
        await jobs.createJob(jobOf({ work }))
        expect(await jobs.claimJob(claimAt(10, 'a'))).toMatchObject({ work })
        const end = { id: 'job', completed_rows: 1, error: null, output_json: '{}', claim_id: 'a' }
        if (how === 'cancelled') await jobs.cancelJob('acme/demo', 'job')
        else await jobs.finishJob({ ...end, state: 'complete' })
        const found = await jobs.findJob('acme/demo', 'job')
        expect(found?.work).toEqual({ ...work, prompts: [] })
      },
    )

    it('gives a released job out at once, and a cancelled one to nobody', async () => {
      const jobs = await create()
      await jobs.createJob(jobOf())
      await jobs.claimJob(claimAt(10, 'a'))
      await jobs.releaseJob({ id: 'job', claim_id: 'a' })
      expect(await jobs.claimJob(claimAt(11, 'b'))).not.toBeNull()
      await jobs.releaseAll()
      expect(await jobs.claimJob(claimAt(12, 'c'))).not.toBeNull()
      expect(await jobs.cancelJob('acme/demo', 'job')).toBe(true)
      const renewed = { ...claimAt(20, 'c'), id: 'job', completed_rows: 1 }
      expect(await jobs.renewClaim(renewed)).toBe(false)
      expect(await jobs.claimJob(claimAt(2 * MINUTE_US, 'd'))).toBeNull()
    })

    it(`refuses more than ${JOBS_PER_PROJECT_MAX} running jobs of a project, not of others`, async () => {
      const jobs = await create()
      for (let n = 0; n < JOBS_PER_PROJECT_MAX; n++) await jobs.createJob(jobOf({ id: `j${n}` }))
      const refused = jobs.createJob(jobOf({ id: 'more' }))
      await expect(refused).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
      expect(await jobs.findJob('acme/demo', 'more')).toBeNull()
      await jobs.createJob(jobOf({ id: 'other', project_id: 'acme/other' }))
    })
  })
}
