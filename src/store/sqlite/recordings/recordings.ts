/** Recorded calls on their way to the store: gathered for a moment, so that many go in one message. */
import type { RecordedCall } from '../../../domain/calls/recorded-call.ts'
import type { RecordingLoss, RecordingStore } from '../../api/chat/recordings.ts'
import { type Failure, toReplyError } from '../db/thread-failure.ts'
import type { Arrivals } from './arrivals.ts'

/**
 * How long calls gather. The more of them share a commit, the fewer pages of indexes are written: 200 take some 72 us
 * of the writer's time each, 400 take 63 us, 800 take 57 us.
 */
const GATHER_MS = 100
/** Limits of one write, some 30 ms of work for which others wait: calls, and characters of their bodies. */
const CALLS_MAX = 512
const CHARACTERS_MAX = 2 * 1024 * 1024

interface Gathered {
  readonly call: RecordedCall
  readonly arrive: () => void
}

/** @param record - stores calls, each alone; gives why some were refused */
export function createRecordings(
  record: (calls: readonly RecordedCall[]) => Promise<readonly Failure[]>,
  arrivals: Arrivals,
): RecordingStore {
  const unwritten = new Set<Promise<void>>()
  let gathered: Gathered[] = []
  let characters = 0
  let timer: NodeJS.Timeout | undefined
  let tell: (loss: RecordingLoss) => void = () => undefined

  async function write(batch: readonly Gathered[]): Promise<void> {
    const calls = batch.map(({ call }) => call)
    try {
      for (const failure of await record(calls)) tell({ count: 1, error: toReplyError(failure) })
    } catch (error) {
      tell({ count: calls.length, error })
    }
    for (const { arrive } of batch) arrive()
  }

  function writeGathered(): void {
    clearTimeout(timer)
    timer = undefined
    if (gathered.length === 0) return
    const writing = write(gathered)
    gathered = []
    characters = 0
    unwritten.add(writing)
    void writing.finally(() => unwritten.delete(writing))
  }

  return {
    onLoss(listener) {
      tell = listener
    },
    announce: arrivals.expect,
    add(call, arrive = () => undefined) {
      gathered.push({ call, arrive })
      characters += call.inputs_json.length + call.output_json.length
      if (gathered.length >= CALLS_MAX || characters >= CHARACTERS_MAX) writeGathered()
      else timer ??= setTimeout(writeGathered, GATHER_MS)
    },
    async flush() {
      writeGathered()
      await Promise.all(unwritten)
    },
  }
}
