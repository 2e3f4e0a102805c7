import { describe, expect, it, onTestFinished } from 'vitest'
import type { ProjectRetention } from '../../src/domain/projects/retention.ts'
import { createRemovalRound } from '../../src/retention/removal-round.ts'
import { repeatRounds } from '../../src/retention/remover.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

const DAY_US = 86_400_000_000
/** 2026-01-31T09:30Z and its hour. */
const NOW_US = Date.UTC(2026, 0, 31, 9, 30) * 1000
const HOUR_OF_NOW_US = Date.UTC(2026, 0, 31, 9) * 1000

interface Scene {
  readonly told?: readonly ProjectRetention[]
  readonly projects?: readonly string[]
  readonly defaultDays?: number | null
  /** Fails for these projects; the empty text is the removal of deleted calls, `audit` that of entries. */
  readonly failing?: readonly string[]
  readonly onExpire?: (project_id: string) => void
  readonly auditDays?: number
  /** What changes in the first step of each project, which has two if this is given. */
  readonly change?: Pick<ProjectRetention, 'retention_days'>
}

async function playRound(scene: Scene, signal = new AbortController().signal) {
  const { told = [], projects = [], defaultDays = null, failing = [] } = scene
  const { retention, close } = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 10 })
  onTestFinished(close)
  for (const one of told) await retention.setRetention(one)
  const steps: (string | number)[][] = []
  const removed: object[] = []
  const expired: number[] = []
  const changes: Promise<void>[] = []
  const fail = (name: string) => {
    if (failing.includes(name)) throw new Error(`no ${name}`)
  }
  /** The change is answered after the step. */
  async function storeChange(project_id: string) {
    const changed = { project_id, retention_days: null, ...scene.change }
    changes.push(retention.setRetention(changed))
    await expect.poll(() => retention.findRetention(project_id)).toEqual(changed)
  }
  const round = createRemovalRound({
    stores: {
      retention,
      audit: {
        async expireEntries(before_us) {
          steps.push(['audit', (HOUR_OF_NOW_US - before_us) / DAY_US])
          fail('audit')
          return steps.filter(([name]) => name === 'audit').length > 2 ? 0 : 500
        },
      },
      exportTickets: {
        async expireTickets(now_us) {
          expired.push(now_us)
        },
      },
      projects: {
        listProjects: async () => [...projects],
        sumContents: () => Promise.reject(),
        hasProject: () => Promise.reject(),
      },
      removal: {
        async expireCalls({ project_id, before_us }) {
          steps.push([project_id, (HOUR_OF_NOW_US - before_us) / DAY_US])
          scene.onExpire?.(project_id)
          fail(project_id)
          const isDone = !scene.change || steps.length > 1
          if (!isDone) await storeChange(project_id)
          return { calls: project_id === 'acme/empty' ? 0 : 3, isDone }
        },
        async removeDeleted() {
          steps.push(['deleted'])
          fail('')
          return 2
        },
      },
    },
    defaultDays,
    auditDays: scene.auditDays ?? null,
    nowUs: () => NOW_US,
    onRemoved: (what) => removed.push(what),
  })
  const failure = await round(signal).then(
    () => null,
    (error) => error.message,
  )
  await Promise.all(changes)
  return { steps, removed, failure, expired }
}

describe('a round of removal', () => {
  it('lets calls go before a whole hour, project by project, then frees deleted ones', async () => {
    const told = [
      { project_id: 'acme/demo', retention_days: 30 },
      { project_id: 'acme/empty', retention_days: 1 },
      { project_id: 'acme/kept', retention_days: null },
    ]
    expect(await playRound({ told, projects: ['acme/untold'] })).toEqual({
      steps: [['acme/demo', 30], ['acme/empty', 1], ['deleted']],
      removed: [{ project_id: 'acme/demo', calls: 3 }, { calls: 2 }],
      failure: null,
      expired: [NOW_US],
    })
  })

  it('removes entries past the retention of the audit list and expired tickets at the end, also after a failure', async () => {
    const told = [{ project_id: 'acme/demo', retention_days: 30 }]
    const audited = ['audit', 400]
    expect(await playRound({ told, auditDays: 400, failing: ['acme/demo'] })).toEqual({
      steps: [['acme/demo', 30], ['deleted'], audited, audited, audited],
      removed: [{ calls: 2 }, { audit_entries: 1000 }],
      failure: 'no acme/demo',
      expired: [NOW_US],
    })
  })

  it('looks before each step whether the project keeps its calls meanwhile', async () => {
    const project_id = 'acme/demo'
    const told = [{ project_id, retention_days: 30 }]
    expect(await playRound({ told, change: { retention_days: null } })).toMatchObject({
      steps: [[project_id, 30], ['deleted']],
      removed: [{ project_id, calls: 3 }, { calls: 2 }],
    })
    expect(await playRound({ told, change: { retention_days: 60 } })).toMatchObject({
      steps: [[project_id, 30], [project_id, 60], ['deleted']],
      removed: [{ project_id, calls: 6 }, { calls: 2 }],
    })
  })

  it('uses the default of the server for a project without a setting', async () => {
    const told = [
      { project_id: 'acme/demo', retention_days: 30 },
      { project_id: 'acme/kept', retention_days: null },
    ]
    const projects = ['acme/demo', 'acme/kept', 'acme/untold']
    const { steps } = await playRound({ told, projects, defaultDays: 7 })
    expect(steps).toEqual([['acme/demo', 30], ['acme/untold', 7], ['deleted']])
  })

  it('reports the first failure after all others have had their turn', async () => {
    const projects = ['acme/a', 'acme/b', 'acme/c']
    const failing = ['acme/a', 'acme/b', '']
    const { steps, failure } = await playRound({ projects, failing, defaultDays: 1 })
    expect(steps).toEqual([['acme/a', 1], ['acme/b', 1], ['acme/c', 1], ['deleted']])
    expect(failure).toBe('no acme/a')
  })

  it('ends at once when the server stops', async () => {
    const stopping = new AbortController()
    const scene = { projects: ['acme/a', 'acme/b'], defaultDays: 1 }
    const { steps } = await playRound(
      { ...scene, onExpire: () => stopping.abort() },
      stopping.signal,
    )
    expect(steps).toEqual([['acme/a', 1]])
  })
})

describe('rounds', () => {
  it('follow each other, and tell a failure once until all is well again', async () => {
    const failures: unknown[] = []
    const ends = ['a', 'b', null, 'c', 'd']
    const { promise: done, resolve } = Promise.withResolvers<void>()
    let [running, most] = [0, 0]
    const round = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((next) => setImmediate(next))
      running -= 1
      const end = ends.shift()
      if (ends.length === 0) resolve()
      if (end) throw end
    }
    // The timers of rounds do not keep a process alive.
    const held = setInterval(() => undefined, 1000)
    const onFailure = (error: unknown) => failures.push(error)
    const rounds = repeatRounds(round, { firstMs: 0, pauseMs: 0, onFailure })
    await done
    await rounds.stop()
    clearInterval(held)
    expect(failures).toEqual(['a', 'c'])
    expect(most).toBe(1)
  })

  it('are stopped in the middle, without a word', async () => {
    const failures: unknown[] = []
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const round = (signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        resolve()
      })
    const onFailure = (error: unknown) => failures.push(error)
    const rounds = repeatRounds(round, { firstMs: 0, pauseMs: 0, onFailure })
    await begun
    await rounds.stop()
    expect(failures).toEqual([])
  })
})
