/**
 * Wakes callers that wait for jobs after transitions: in this process at once, in others through PostgreSQL. A lost
 * connection is reopened; callers also poll.
 */
import type { Client } from 'pg'
import { createJobNotifier, type JobNotifier } from '../../base/training/job-moves.ts'
import { createOwnConnection } from '../db/client.ts'
import { LISTEN_QUEUE } from './training-queue.sql.ts'

const RETRY_MS = 1_000

interface QueueNotifier extends JobNotifier {
  close(): Promise<void>
}

export function createQueueNotifier(url: string): QueueNotifier {
  const notifier = createJobNotifier()
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
    own.on('notification', notifier.notify)
    try {
      await own.connect()
      await own.query(LISTEN_QUEUE)
      // Notifications sent while there was no connection are lost.
      if (isLate) notifier.notify()
    } catch {
      again()
    }
  }

  const started = listen()
  return {
    ...notifier,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await started
      await client?.end().catch(() => undefined)
    },
  }
}
