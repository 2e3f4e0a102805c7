import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { INHERITED } from '../support/inherited.ts'

/** Loads modules as a start does, and tells which packages came with them. */
const LOADED = `import { registerHooks } from 'node:module'
const packages = new Set()
registerHooks({
  load(url, context, next) {
    packages.add(/\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1])
    return next(url, context)
  },
})
for (const name of process.argv.slice(1)) await import('./src/' + name + '.ts')
const builtIn = process.moduleLoadList.filter((name) => name.includes('undici'))
process.stdout.write([...packages, ...builtIn].join(' '))`

async function packagesOf(...modules: readonly string[]): Promise<string[]> {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', LOADED]
  const { stdout } = await promisify(execFile)(process.execPath, [...args, ...modules], {
    env: INHERITED,
  })
  return stdout.split(' ')
}

it('a start loads neither the client of upstreams, prices nor protobuf before they are needed', async () => {
  const packages = await packagesOf('deps', 'app', 'training/worker/trainer')
  expect(packages).toEqual(expect.arrayContaining(['fastify', 'zod']))
  // Neither the package nor Node's own, which comes with an import of node:http.
  expect(packages.join()).not.toContain('undici')
  expect(packages).not.toContain('@pydantic/genai-prices')
  expect(packages).not.toContain('protobufjs')
})

it("a start of the model's process loads no schemas", async () => {
  const packages = await packagesOf('inference/tiny/host/engine')
  expect(packages).toContain('@huggingface/jinja')
  expect(packages).not.toContain('zod')
})
