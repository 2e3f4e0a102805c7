/** Removes calls, audit entries and expired export tickets in the background, in rounds, while the server runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createCautiousClock } from './cautious-clock.ts'
import { createRemovalRound, type RoundOptions } from './removal-round.ts'

/** By then the server has started, and a machine that sets its clock at boot has set it. */
const FIRST_MS = 60_000
/** Pause between two rounds. */
const PAUSE_MS = 300_000
/** Limit: how long a running round delays the exit of the process. */
const STOP_MS_MAX = 500

interface RemoverOptions extends Omit<RoundOptions, 'nowUs' | 'onRemoved'> {
  readonly log: (level: 'info' | 'warn' | 'error', fields: object, message: string) => void
}

export interface Remover {
  /** Stops the running round; resolves within a second. */
  stop(): Promise<void>
}

/** Starts the rounds. The caller must stop them before it closes the stores. */
export function startRemover({ log, ...options }: RemoverOptions): Remover {
  const nowUs = createCautiousClock({
    onDoubt: (ahead_ms) =>
      log(
        'warn',
        { ahead_ms },
        'the clock was set ahead and is not trusted for an hour: calls and audit entries expire by the previous time',
      ),
  })
  const onRemoved: RoundOptions['onRemoved'] = (removed) =>
    log('info', removed, `${'calls' in removed ? 'calls' : 'audit entries'} were removed`)
  const round = createRemovalRound({ ...options, nowUs, onRemoved })
  const onFailure = (err: unknown) =>
    log('error', { err }, 'calls, audit entries or export tickets could not be removed')
  return repeatRounds(round, { firstMs: FIRST_MS, pauseMs: PAUSE_MS, onFailure })
}

interface RepeatOptions {
  readonly firstMs: number
  readonly pauseMs: number
  /** Called for the first of consecutive failures only. */
  readonly onFailure: (error: unknown) => void
}

/** Runs rounds one after the other, also after failures. */
export function repeatRounds(
  round: (signal: AbortSignal) => Promise<void>,
  { firstMs, pauseMs, onFailure }: RepeatOptions,
): Remover {
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = (ms: number) => sleep(ms, undefined, { ref: false, signal }).catch(() => undefined)

  async function run(): Promise<void> {
    let isFailing = false
    await pause(firstMs)
    while (!signal.aborted) {
      try {
        await round(signal)
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted) onFailure(error)
        isFailing = true
      }
      await pause(pauseMs)
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      await Promise.race([running, sleep(STOP_MS_MAX, undefined, { ref: false })])
    },
  }
}
