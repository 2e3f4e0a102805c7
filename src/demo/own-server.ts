/** A server in a temporary folder that ends, and is gone, with this process. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const SERVER = fileURLToPath(new URL(`../server${extname(import.meta.url)}`, import.meta.url))

/** Starts it on a free port; its address and a key with all rights. @throws Error when it does not start */
export async function startOwnServer(): Promise<{ readonly url: string; readonly key: string }> {
  const key = `wk_demo_${crypto.randomUUID()}`
  const dataDir = mkdtempSync(join(tmpdir(), 'weft-demo-'))
  const server = spawn(process.execPath, [SERVER], {
    // Neither the environment nor the working directory of the caller: both may hold settings of another server,
    // such as its models.json.
    cwd: dataDir,
    env: { WEFT_PORT: '0', WEFT_DATA_DIR: dataDir, WEFT_BOOTSTRAP_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => {
    // At once: files that a shutdown removes meanwhile would end the removal of the others.
    server.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const match = /listening at (http:\/\/[^"]+)"/.exec(line)
      if (match?.[1]) resolve(match[1])
    })
    server.once('exit', () => reject(new Error('the server did not start')))
  })
  return { url, key }
}
