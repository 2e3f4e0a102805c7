import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { INHERITED } from '../support/inherited.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Starts a server whose log goes to a file descriptor, or to a pipe. */
async function startServer(log: number | 'pipe') {
  const child = spawn(process.execPath, ['src/server.ts'], {
    env: { ...INHERITED, WEFT_DATA_DIR: makeTempDir(), WEFT_PORT: '0', WEFT_TRAINER: 'off' },
    stdio: ['ignore', log, 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stderr?.on('data', (chunk) => {
    text += chunk
  })
  // The only address outside the log is that of the page, beside the first key.
  await expect.poll(() => text, { timeout: 20_000 }).toContain('#key=')
  const [, url = ''] = /(http:\S+)\/#key=/.exec(text) ?? []
  return { child, url }
}

describe('a server whose log cannot be written', () => {
  it.runIf(process.platform === 'linux').each(['a full disk', 'a reader that has left'])(
    'serves and stops: %s',
    async (kind) => {
      const isFull = kind === 'a full disk'
      const { child, url } = await startServer(isFull ? openSync('/dev/full', 'w') : 'pipe')
      child.stdout?.destroy()
      for (let n = 0; n < 20; n++) expect((await fetch(`${url}/version`)).status).toBe(200)
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
    },
  )
})
