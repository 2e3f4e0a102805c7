import { describe, expect, it, onTestFinished } from 'vitest'
import { createFeedbackReads } from '../../../src/store/base/feedback/feedback-reads.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { runPausing } from '../../../src/store/sqlite/db/run-steps.ts'
import { FEEDBACK } from '../../../src/store/sqlite/feedback/feedback.sql.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/open.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { feedbackAt, trigger } from '../feedback-fixtures.ts'
import { describeFeedbackQueryContract } from './feedback-query-contract.ts'
import { describeFeedbackStatsContract } from './feedback-stats-contract.ts'
import { describeFeedbackStoreContract, pathsOf } from './feedback-store-contract.ts'

const T0 = '2026-01-01T00:00:00Z'

function open(dataDir: string): SqliteStore {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  onTestFinished(() => store.close())
  return store
}

describeFeedbackStoreContract('sqlite', async () => open(':memory:').feedback)
describeFeedbackStatsContract('sqlite', async () => open(':memory:').feedback)
describeFeedbackQueryContract('sqlite', async () => open(':memory:').feedback)
describeFeedbackQueryContract('sqlite with pauses and parts of few rows', async () => {
  const dataDir = makeTempDir()
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  const reads = createFeedbackReads({ ...FEEDBACK, sortedRowsMax: 7 }, 5)
  return {
    ...open(dataDir).feedback,
    async queryFeedback(project_id, query) {
      const job = runPausing(db, reads.query({ project_id, query }), () => true)
      let step = job.next()
      while (!step.done) step = job.next()
      return step.value
    },
  }
})

describe('sqlite feedback', () => {
  it('is there again after a restart, and its id is still taken', async () => {
    const dataDir = makeTempDir()
    const stored = feedbackAt(T0, 'f', { trigger_ref: trigger('t'), payload: { kept: 1 } })
    const first = open(dataDir)
    await first.feedback.createFeedback(stored)
    await first.close()
    const second = open(dataDir)
    expect(await pathsOf(second.feedback)).toEqual(['kept'])
    const repeat = { ...stored, created_at_us: 1 }
    await expect(second.feedback.createFeedback(repeat)).resolves.toEqual(stored)
    const other = { ...stored, queue_id: 'q' }
    await expect(second.feedback.createFeedback(other)).rejects.toMatchObject({
      code: 'feedback_conflict',
    })
  })

  it('is seen by a reader as soon as it was acknowledged', async () => {
    const { feedback } = open(makeTempDir())
    for (const id of ['a', 'b', 'c', 'd']) {
      await feedback.createFeedback(feedbackAt(T0, id, { trigger_ref: trigger(id) }))
      expect(await pathsOf(feedback)).toContain(id)
    }
  })

  it('leaves the event loop free while a reader looks into large payloads', async () => {
    const { feedback } = open(makeTempDir())
    const items = Array.from({ length: 20_000 }, (_, at) => ({ score: at, ok: true }))
    const writes = Array.from({ length: 20 }, (_, at) =>
      feedback.createFeedback(
        feedbackAt(T0, `f${at}`, { trigger_ref: trigger(`t${at}`), payload: { items } }),
      ),
    )
    await Promise.all(writes)
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const found = await pathsOf(feedback)
    clearInterval(timer)
    expect(found).toEqual(['items[*].ok', 'items[*].score'])
    expect(turns).toBeGreaterThan(3)
  })

  it('undoes nothing of a commit when one feedback of it conflicts', async () => {
    const { feedback } = open(':memory:')
    const results = await Promise.allSettled([
      feedback.createFeedback(feedbackAt(T0, 'a', { trigger_ref: trigger('a') })),
      feedback.createFeedback(feedbackAt(T0, 'a', { payload: { other: 1 } })),
      feedback.createFeedback(feedbackAt(T0, 'b', { trigger_ref: trigger('b') })),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await pathsOf(feedback)).toEqual(['a', 'b'])
  })
})
