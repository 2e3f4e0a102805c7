/**
 * Preload of the server that bench/walk.ts starts: counts the calls of functions in every thread, and reports those
 * since the last reset to the parent process.
 */
import { Session } from 'node:inspector'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'
import type { ThreadWalk, WalkCommand } from '../walk.ts'

const SOURCES = new URL('../../src/', import.meta.url).href
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Returns the functions of the project that this thread has called since the last time, by file. */
function takeCalls(): ThreadWalk {
  const files: Record<string, string[]> = {}
  session.post('Profiler.takePreciseCoverage', (error, coverage) => {
    if (error) throw error
    for (const { url, functions } of coverage.result) {
      if (!url.startsWith(SOURCES)) continue
      // The body of a module is a function without a name that runs when the module is loaded.
      const called = functions.filter(
        ({ ranges, functionName }, index) =>
          (ranges[0]?.count ?? 0) > 0 && (index > 0 || functionName !== ''),
      )
      if (called.length === 0) continue
      files[url.slice(SOURCES.length).replace(/\?.*$/, '')] = called.map(
        ({ functionName }) => functionName,
      )
    }
  })
  return files
}

const commands = new BroadcastChannel('walk-commands')
const walks = new BroadcastChannel('walks')
commands.unref()
walks.unref()
commands.onmessage = (message) => {
  const { data } = message as { readonly data: WalkCommand }
  const walk = takeCalls()
  if (data === 'take') walks.postMessage(walk)
}

if (isMainThread) {
  walks.onmessage = (message) => process.send?.((message as { readonly data: ThreadWalk }).data)
  process.on('message', (command: WalkCommand) => {
    commands.postMessage(command)
    const walk = takeCalls()
    if (command === 'take') process.send?.(walk)
  })
  process.channel?.unref()
}
