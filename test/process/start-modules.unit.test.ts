import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { INHERITED } from '../support/inherited.ts'

/** Loads what a start loads and tells which packages came with it. */
const LOADED = `import { registerHooks } from 'node:module'
const packages = new Set()
registerHooks({
  load(url, context, next) {
    packages.add(/\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1])
    return next(url, context)
  },
})
for (const name of ['deps', 'app', 'training/worker/trainer']) await import('./src/' + name + '.ts')
const builtIn = process.moduleLoadList.filter((name) => name.includes('undici'))
process.stdout.write([...packages, ...builtIn].join(' '))`

it('a start loads neither the client of upstreams, prices nor protobuf before they are needed', async () => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', LOADED]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: INHERITED })
  const packages = stdout.split(' ')
  expect(packages).toEqual(expect.arrayContaining(['fastify', 'zod']))
  // Neither the package nor Node's own, which comes with an import of node:http.
  expect(stdout).not.toContain('undici')
  expect(packages).not.toContain('@pydantic/genai-prices')
  expect(packages).not.toContain('protobufjs')
})
