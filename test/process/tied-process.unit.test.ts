import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'

const PARENT = `import { spawn } from 'node:child_process'
import { tieToParent } from './test/support/tied-process.ts'
process.stdout.write(String(spawn(...tieToParent('sleep', ['600']), { stdio: 'ignore' }).pid))`

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it.skipIf(!existsSync('/usr/bin/setpriv'))(
  'a server of a test ends with the killed test process',
  async () => {
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PARENT]
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(`${line}`)
    onTestFinished(() => void (isRunning(pid) && process.kill(pid)))
    expect(isRunning(pid)).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(() => isRunning(pid)).toBe(false)
  },
)
