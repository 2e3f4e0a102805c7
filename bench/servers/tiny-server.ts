/** The real server with the embedded model, as a process of its own, for bench/tiny.ts. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const KEY = 'wk_key_of_the_benchmark_of_the_model'
const PROJECT = 'bench/tiny'

/** A running server. */
interface TinyServer {
  /** Asks for one answer of that many tokens. @returns the count that the server reports */
  complete(seed: number, tokens: number): Promise<number>
  stop(): void
}

/** Starts a server on a free port, with its database in memory. */
export async function startTinyServer(): Promise<TinyServer> {
  const child = spawn(process.execPath, ['src/server.ts'], {
    env: {
      WEFT_PORT: '0',
      WEFT_DATA_DIR: ':memory:',
      WEFT_TRAINER: 'off',
      WEFT_BOOTSTRAP_KEY: KEY,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /listening at (http:\/\/[^"]+)"/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error('the server ended')))
  })
  return {
    async complete(seed, tokens) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${KEY}`,
          'openai-project': PROJECT,
        },
        body: JSON.stringify({
          model: 'tiny',
          messages: [{ role: 'user', content: 'Tell me a story.' }],
          seed,
          max_tokens: tokens,
          ignore_eos: true,
        }),
      })
      if (!response.ok) throw new Error(await response.text())
      const { usage } = (await response.json()) as { usage: { completion_tokens: number } }
      return usage.completion_tokens
    },
    stop: () => void child.kill('SIGKILL'),
  }
}
