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
/** Limits of one write, calls and characters of their bodies: some 30 ms of work, while others wait. */
const CALLS_MAX = 512
const CHARACTERS_MAX = 2 * 1024 * 1024

/** @param record - stores calls, each alone; gives why some were refused */
export function createRecordings(
  record: (calls: readonly RecordedCall[]) => Promise<readonly Failure[]>,
  arrivals: Arrivals,
): RecordingStore {
  const unwritten = new Set<Promise<void>>()
  let gathered: RecordedCall[] = []
  let characters = 0
  /** Of the calls that are gathered. */
  let arrive: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let tell: (loss: RecordingLoss) => void = () => undefined

  async function write(
    calls: readonly RecordedCall[],
    arrived: readonly (() => void)[],
  ): Promise<void> {
    try {
      const failures = await record(calls)
      for (const failure of failures) tell({ count: 1, error: toReplyError(failure) })
    } catch (error) {
      tell({ count: calls.length, error })
    }
    for (const end of arrived) end()
  }

  function writeGathered(): void {
    clearTimeout(timer)
    timer = undefined
    if (gathered.length === 0) return
    const writing = write(gathered, arrive)
    gathered = []
    characters = 0
    arrive = []
    unwritten.add(writing)
    void writing.finally(() => unwritten.delete(writing))
  }

  return {
    onLoss(listener) {
      tell = listener
    },
    announce: arrivals.expect,
    add(call, end) {
      gathered.push(call)
      characters += call.inputs_json.length + call.output_json.length
      if (end !== undefined) arrive.push(end)
      if (gathered.length >= CALLS_MAX || characters >= CHARACTERS_MAX) writeGathered()
      else timer ??= setTimeout(writeGathered, GATHER_MS)
    },
    async flush() {
      writeGathered()
      await Promise.all(unwritten)
    },
  }
}
