/** A killed server leaves no process behind, even if a guarded one is in an endless loop. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const MAKER = fileURLToPath(new URL('./orphan-maker.ts', import.meta.url))
/** Time for the process to enter its loop, where it handles no messages. */
const LOOPING_MS = 500

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The names in a process's environment; empty where the system does not show them. */
function environmentNames(pid: number): string[] {
  const path = `/proc/${pid}/environ`
  if (!existsSync(path)) return []
  const entries = readFileSync(path, 'utf8').split('\0').filter(Boolean)
  return entries.map((entry) => entry.slice(0, entry.indexOf('=')))
}

it('a process that loops ends soon after its server was killed', async () => {
  const server = spawn(process.execPath, [MAKER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(server.stdout, 'data')
  const pid = Number(`${line}`)
  await delay(LOOPING_MS)
  expect(isRunning(pid)).toBe(true)
  const names = environmentNames(pid)
  // Nothing of the server's settings, which hold secrets.
  expect(names.filter((name) => !name.startsWith('NODE_'))).toEqual([])
  if (names.length > 0) expect(names).toContain('NODE_COMPILE_CACHE')
  server.kill('SIGKILL')
  await once(server, 'exit')
  await expect.poll(() => isRunning(pid)).toBe(false)
})
