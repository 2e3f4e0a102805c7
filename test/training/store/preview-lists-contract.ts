/** What lists of models and jobs must tell, and what the deletion of a model must do, whatever the stores store in. */
import { describe, expect, it } from 'vitest'
import type { ModelListing } from '../../../src/store/api/models/checkpoints.ts'
import type { JobListing } from '../../../src/store/api/training/training-queue.ts'
import { JOB, MODEL } from './preview-store-contract.ts'
import {
  claimAt,
  leaseOf,
  mustClaim,
  outcomeOf,
  type QueueStores,
} from './training-queue-contract.ts'

/** More than a statement reads. */
const MANY = 250
const PROJECTS = { projects: ['acme/demo', 'acme/more'] }
const numbers = Array.from({ length: MANY }, (_, at) => at)
const idOf = (kind: string, at: number) => `${kind}${String(at).padStart(3, '0')}`

/** Three of four are of projects that are not asked for; times come in pairs. */
async function fillModels({ previewModels }: QueueStores): Promise<string[]> {
  for (const at of numbers) {
    const [entity, project] =
      [
        ['acme', 'demo'],
        ['beta', 'demo'],
        ['acme', 'other'],
      ][at % 3] ?? []
    await previewModels.insertModel({
      id: idOf('m', at),
      entity: entity ?? '',
      project: project ?? '',
      name: idOf('n', at),
      base_model: at % 2 ? 'tiny' : 'large',
      created_by: 'u',
      created_at_us: at >> 1,
    })
  }
  return numbers.filter((at) => at % 3 === 0).map((at) => idOf('m', at))
}

/** @param create - empty stores that close themselves when the test ends */
export function describePreviewListsContract(
  name: string,
  create: () => Promise<QueueStores>,
): void {
  describe(`${name} keeps the contracts of lists of the preview`, () => {
    it('models of the requested projects are listed in pages, however far apart', async () => {
      const stores = await create()
      const { previewModels } = stores
      const shown = await fillModels(stores)
      const list = async (fields: Partial<ModelListing> = {}) => {
        const found = await previewModels.listModels({
          name: null,
          project_id: null,
          base_models: null,
          after: null,
          order: 'asc',
          count: 1000,
          ...PROJECTS,
          ...fields,
        })
        return found.map(({ id }) => id)
      }
      expect(await list()).toEqual(shown)
      expect(await list({ order: 'desc' })).toEqual(shown.toReversed())
      expect(await list({ projects: ['*'] })).toHaveLength(MANY)
      expect(await list({ projects: ['acme/*'], project_id: 'acme/other' })).toHaveLength(83)
      expect(await list({ projects: ['beta/*'], project_id: 'acme/other' })).toEqual([])
      const even = shown.filter((_, at) => at % 2 === 0)
      expect(await list({ base_models: ['large', 'none'] })).toEqual(even)
      expect(await list({ name: 'n009' })).toEqual(['m009'])
      expect(await list({ name: 'n010' })).toEqual([])
      const rest = ['asc' as const, 'desc' as const].map(async (order) => {
        const all: string[] = []
        while (true) {
          const page = await list({ order, count: 20, after: all.at(-1) ?? null })
          all.push(...page)
          if (page.length < 20) return all
        }
      })
      expect(await Promise.all(rest)).toEqual([shown, shown.toReversed()])
      await previewModels.deleteModel('m003', 9)
      expect(await list({ count: 2, after: 'm003' })).toEqual(['m006', 'm009'])
      expect(await list({ count: 2 })).toEqual(['m000', 'm006'])
      for (const fields of [
        { after: 'none' },
        { after: 'm001' },
        { after: 'm006', base_models: ['tiny'] },
      ]) {
        const unknown = { code: 'model_not_found', param: 'after' }
        await expect(list(fields)).rejects.toMatchObject(unknown)
      }
    })

    it('models of one name are listed over all projects, in pages', async () => {
      const { previewModels } = await create()
      const models = numbers.slice(0, 40).map((at) => ({
        ...MODEL,
        id: idOf('m', at),
        entity: at % 3 === 0 ? 'beta' : 'acme',
        project: idOf('p', at),
        name: at % 4 === 0 ? 'other' : 'same',
        created_at_us: 100 - (at >> 2),
      }))
      await Promise.all(models.map((model) => previewModels.insertModel(model)))
      await previewModels.deleteModel('m007', 200)
      const wanted = models
        .filter(({ id, name, entity }) => name === 'same' && entity === 'acme' && id !== 'm007')
        .sort((a, b) => a.created_at_us - b.created_at_us || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id)
      for (const order of ['asc', 'desc'] as const) {
        const got: string[] = []
        for (let page = ['']; page.length > 0; got.push(...page)) {
          const found = await previewModels.listModels({
            name: 'same',
            project_id: null,
            base_models: null,
            projects: ['acme/*'],
            order,
            count: 4,
            after: got.at(-1) ?? null,
          })
          page = found.map(({ id }) => id)
        }
        expect(got).toEqual(order === 'asc' ? wanted : wanted.toReversed())
      }
    })

    it('jobs of models are listed by state, in pages, with their steps', async () => {
      const { previewModels, trainingJobs, trainingQueue } = await create()
      await previewModels.insertModel(MODEL)
      const far = { ...MODEL, id: 'far', entity: 'beta' }
      await previewModels.insertModel(far)
      const jobs = numbers.map((at) => ({
        ...JOB,
        id: idOf('j', at),
        created_at_us: 500 - (at >> 1),
        model_id: at % 5 === 0 ? MODEL.id : 'far',
      }))
      // Not all at once: the last would wait longer for a connection than stores let them on a busy machine.
      for (let at = 0; at < jobs.length; at += 50) {
        const some = jobs.slice(at, at + 50)
        await Promise.all(some.map((job) => trainingJobs.insertJob(job, '[]')))
      }
      const first = await mustClaim(trainingQueue, claimAt(1, { projects: ['acme/*'] }))
      await trainingQueue.completeJob(leaseOf(first, 2), outcomeOf('one'))
      await trainingQueue.claimJob(claimAt(3, { projects: ['acme/*'] }))
      const view = async (fields: Partial<JobListing> = {}) =>
        trainingJobs.listJobs({
          model_id: null,
          status: null,
          after: null,
          order: 'asc',
          count: 1000,
          ...PROJECTS,
          ...fields,
        })
      const list = async (fields: Partial<JobListing> = {}) =>
        (await view(fields)).map(({ job }) => job.id)
      const byTime = (one: { created_at_us: number; id: string }, other: typeof one) =>
        one.created_at_us - other.created_at_us || (one.id < other.id ? -1 : 1)
      const shown = jobs
        .filter(({ model_id }) => model_id === MODEL.id)
        .sort(byTime)
        .map(({ id }) => id)
      expect(await list()).toEqual(shown)
      expect(await list({ order: 'desc' })).toEqual(shown.toReversed())
      expect(await list({ projects: ['*'] })).toHaveLength(MANY)
      expect(await list({ count: 3, after: shown[4] ?? '' })).toEqual(shown.slice(5, 8))
      const [, , two, three, four] = shown
      expect(await list({ order: 'desc', count: 2, after: four ?? '' })).toEqual([three, two])
      expect(await list({ model_id: 'far' })).toEqual([])
      // Those of one model come in the order in which they run.
      const all = await view({ model_id: MODEL.id })
      const seqs = all.map(({ job }) => job.seq)
      expect(seqs).toEqual(shown.map((_, at) => at + 1))
      const [one, next, last] = [seqs[0], seqs[1], seqs.at(-1)].map(
        (seq) => all.find(({ job }) => job.seq === seq)?.job.id ?? '',
      )
      expect(one).toBe(first.job.id)
      const ofModel = { model_id: MODEL.id, count: 2 }
      expect((await list({ ...ofModel, after: one ?? '' }))[0]).toBe(next)
      expect((await list({ ...ofModel, order: 'desc' }))[0]).toBe(last)
      const before = await list({ ...ofModel, order: 'desc', after: next ?? '' })
      expect(before).toEqual([one])
      expect(await list({ status: 'running' })).toEqual([next])
      const queued = shown.filter((id) => id !== one && id !== next)
      expect(await list({ status: 'queued' })).toEqual(queued)
      expect(await list({ status: 'queued', order: 'desc' })).toEqual(queued.toReversed())
      const behind = { status: 'queued', count: 2, after: queued[4] ?? '' } as const
      expect(await list(behind)).toEqual(queued.slice(5, 7))
      expect(await list({ ...behind, order: 'desc' })).toEqual([queued[3], queued[2]])
      expect(await list({ ...ofModel, status: 'succeeded' })).toEqual([one])
      expect(await list({ model_id: 'far', projects: ['*'], status: 'failed' })).toEqual([])
      const done = await view({ status: 'succeeded' })
      expect(done).toMatchObject([{ model: MODEL, result_step: 1, job: { state: 'succeeded' } }])
      await expect(trainingJobs.findJobView(one ?? '')).resolves.toEqual(done[0])
      await expect(trainingJobs.findJobView('none')).resolves.toBeNull()
      for (const after of ['none', 'j001']) {
        const unknown = { code: 'training_job_not_found', param: 'after' }
        await expect(list({ after })).rejects.toMatchObject(unknown)
      }
    })

    it('a deleted model is hidden with its checkpoints, and its jobs are cancelled', async () => {
      const { previewModels, trainingJobs, trainingQueue, checkpoints } = await create()
      await previewModels.insertModel(MODEL)
      const metrics = {}
      for (const step of [0, 4]) {
        const id = `c${step}`
        await checkpoints.insertCheckpoint({
          id,
          model_id: MODEL.id,
          step,
          metrics,
          created_at_us: 1,
        })
      }
      for (const id of ['a', 'b']) await trainingJobs.insertJob({ ...JOB, id }, '[]')
      const running = await mustClaim(trainingQueue, claimAt(1))
      await checkpoints.deleteSteps(MODEL.id, [0], 1)
      await expect(previewModels.deleteModel('none', 9)).resolves.toBeNull()
      await expect(previewModels.deleteModel(MODEL.id, 2_000_000)).resolves.toBe(1)
      await expect(previewModels.deleteModel(MODEL.id, 9)).resolves.toBeNull()
      await expect(previewModels.findModel(MODEL.id)).resolves.toBeNull()
      await expect(checkpoints.findCheckpoint(MODEL.id, 'latest')).resolves.toBeNull()
      const states = async () => {
        const found = await Promise.all(['a', 'b'].map((id) => trainingJobs.findJobView(id)))
        return found.map((one) => [one?.job.state, one?.job.cancel_requested, one?.model.name])
      }
      expect(await states()).toEqual([
        ['running', 1, MODEL.name],
        ['cancelled', 1, MODEL.name],
      ])
      const late = trainingQueue.completeJob(leaseOf(running, 2), outcomeOf('late'))
      await expect(late).rejects.toMatchObject({ code: 'lease_lost' })
      expect((await states())[0]).toEqual(['cancelled', 1, MODEL.name])
      const refused = trainingJobs.insertJob({ ...JOB, id: 'c' }, '[]')
      await expect(refused).rejects.toMatchObject({ code: 'model_not_found' })
      // A model of the name goes on behind the steps of the old one.
      const again = { ...MODEL, id: 'again' }
      await expect(previewModels.insertModel(again)).resolves.toEqual(again)
      await trainingJobs.insertJob({ ...JOB, id: 'd', model_id: 'again' }, '[]')
      const claimed = await mustClaim(trainingQueue, claimAt(3))
      expect(claimed).toMatchObject({ job: { id: 'd' }, parent: null })
      const made = await trainingQueue.completeJob(leaseOf(claimed, 4), outcomeOf('d'))
      expect(made).toMatchObject({ model_id: 'again', step: 5 })
    })
  })
}
