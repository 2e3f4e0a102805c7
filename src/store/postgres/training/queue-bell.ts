/**
 * Wakes callers that wait for jobs after transitions: in this process at once, in others through PostgreSQL. A lost
 * connection is reopened; callers also poll.
 */
import type { Client } from 'pg'
import { createJobBell, type JobBell } from '../../base/training/job-bell.ts'
import { createOwnConnection } from '../db/client.ts'
import { LISTEN_QUEUE } from './training-queue.sql.ts'

const RETRY_MS = 1_000

interface QueueBell extends JobBell {
  close(): Promise<void>
}

export function createQueueBell(url: string): QueueBell {
  const bell = createJobBell()
  let client: Client | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isLate = false

  async function listen(): Promise<void> {
    const own = createOwnConnection(url)
    client = own
    let isOver = false
    const again = () => {
      if (isOver) return
      isOver = true
      own.end().catch(() => undefined)
      if (isClosed) return
      isLate = true
      timer = setTimeout(listen, RETRY_MS)
      timer.unref()
    }
    own.on('end', again)
    own.on('error', again)
    own.on('notification', bell.ring)
    try {
      await own.connect()
      await own.query(LISTEN_QUEUE)
      // Notifications sent while there was no connection are lost.
      if (isLate) bell.ring()
    } catch {
      again()
    }
  }

  const started = listen()
  return {
    ...bell,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await started
      await client?.end().catch(() => undefined)
    },
  }
}
