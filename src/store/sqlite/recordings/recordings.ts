/**
 * Recorded calls on their way to a write: the first of a process as any write, later ones through the ring of the
 * write thread, without a promise or a message for each.
 */
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import { ApiError } from '../../../errors.ts'
import type { RecordingLoss, RecordingStore } from '../../api/recordings.ts'
import { toReplyError } from '../db/thread-failure.ts'
import type { CallWrites } from '../write/write-jobs.ts'
import type { WriteThread } from '../write/write-thread.ts'

/** How long calls gather before a commit takes them. */
const GATHER_MS = 100
/** Limit: calls of one commit outside of the ring, so that it never holds the event loop for long. */
const BATCH_MAX = 50

export interface RecordingsOptions {
  readonly writes: CallWrites
  /** null for a database that no other connection can open. */
  readonly thread: WriteThread | null
  /** Calls from which on the thread's ring is used. */
  readonly callsBeforeThread: number
  /** Calls that may wait outside of the ring. */
  readonly queueMax: number
}

export interface Recordings extends RecordingStore {
  /** To be called with what the thread lost. */
  lose(loss: RecordingLoss): void
}

export function createRecordings(options: RecordingsOptions): Recordings {
  const { writes, thread, callsBeforeThread, queueMax } = options
  /** What found no place in the ring, or came before there was one. */
  let gathered: RecordedCall[] = []
  let waitingCount = 0
  let callCount = 0
  let timer: NodeJS.Timeout | null = null
  let tell: (loss: RecordingLoss) => void = () => undefined

  function writeNow(): Promise<void> {
    clearTimeout(timer ?? undefined)
    timer = null
    thread?.announceRecords()
    return writeGathered()
  }

  async function writeGathered(): Promise<void> {
    const calls = gathered
    gathered = []
    for (let at = 0; at < calls.length; at += BATCH_MAX) {
      const batch = calls.slice(at, at + BATCH_MAX)
      await writeBatch(batch)
      waitingCount -= batch.length
    }
  }

  async function writeBatch(calls: readonly RecordedCall[]): Promise<void> {
    try {
      const refused = await writes.run('record_calls', calls, { isUnacknowledged: true })
      for (const failure of refused) tell({ count: 1, error: toReplyError(failure) })
    } catch (error) {
      tell({ count: calls.length, error })
    }
  }

  function gather(call: RecordedCall): void {
    if (waitingCount >= queueMax) {
      tell({ count: 1, error: new ApiError('server_overloaded') })
      return
    }
    waitingCount += 1
    gathered.push(call)
  }

  return {
    lose: (loss) => tell(loss),
    onLoss(listener) {
      tell = listener
    },
    async flush() {
      await Promise.all([writeNow(), thread?.flushRecords()])
    },
    add(call) {
      callCount += 1
      if (!thread || callCount <= callsBeforeThread || !thread.record(call)) gather(call)
      timer ??= setTimeout(() => void writeNow(), GATHER_MS)
    },
  }
}
