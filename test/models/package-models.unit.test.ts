/** Models of provider packages: what the models file may say, and where packages are found. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseModelsFile } from '../../src/inference/models/models-file.ts'
import { openModelRegistry } from '../../src/inference/models/registry.ts'
import { createScriptedBackend } from '../support/scripted-backend.ts'

const ENTRY = { id: 'm', backend: 'ai-sdk', package: 'fake-provider' }
const MODEL = `specificationVersion: 'v4', provider: 'fake', supportedUrls: {}, doStream() {}, doGenerate() {}`
/** Keeps the settings that it was given where a test can read them. */
const FACTORY = `(settings) => { globalThis.fakeSettings = settings; return { languageModel: () => ({ ${MODEL} }) } }`

/** Writes a models file beside a package, and opens it. */
function open(
  entry: object,
  source = `export const createFake = ${FACTORY}`,
  exports: unknown = './index.js',
  secrets: Readonly<Record<string, string>> = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'weft-packages-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'models.json')
  writeFileSync(path, JSON.stringify({ models: [{ ...ENTRY, ...entry }] }))
  const main = join(dir, 'node_modules/fake-provider/index.js')
  mkdirSync(dirname(main), { recursive: true })
  writeFileSync(main, source)
  const manifest = { name: 'fake-provider', version: '1.0.0', type: 'module', exports }
  writeFileSync(join(dirname(main), 'package.json'), JSON.stringify(manifest))
  const registry = openModelRegistry({
    path,
    isRequired: true,
    readSecret: (name) => secrets[name] ?? null,
    createTiny: () => createScriptedBackend([]),
  })
  onTestFinished(() => registry.close())
  return registry
}

const settings = (): unknown => Reflect.get(globalThis, 'fakeSettings')

describe('a package in the models file', () => {
  it('is found beside the file, and given the address, the key and the options', () => {
    const secrets = { KEY: 'secret', OTHER: 'other' }
    const entry = {
      api_key_env: 'KEY',
      base_url: 'https://host/v1',
      options: { region: 'eu' },
      options_env: { secretAccessKey: 'OTHER' },
    }
    const model = open(entry, undefined, undefined, secrets).getModel('m')
    expect(settings()).toMatchObject({
      apiKey: 'secret',
      baseURL: 'https://host/v1',
      region: 'eu',
      secretAccessKey: 'other',
      fetch: expect.any(Function),
    })
    expect(model.backend.offers).toEqual(['chat'])
    expect(model.capabilities).toMatchObject({ tools: true })
    expect(model.backend.findProvider?.()).toBeNull()
  })

  it('is loaded even if it exports itself only to import', () => {
    const exports = { '.': { import: { default: './index.js' } } }
    expect(() => open({}, undefined, exports)).not.toThrow()
  })

  it('that is missing ends the start with a line that names the command to install it', () => {
    expect(() => open({ package: '@fake/missing' })).toThrow(
      /models\.json: models\[0\]\.package names @fake\/missing, which is not installed: npm install @fake\/missing$/,
    )
  })

  it.each([
    [
      'several factories',
      {},
      `export const createA = ${FACTORY}\nexport const createB = () => ({})`,
      'does not say what creates a provider; set factory to one of: createA, createB',
    ],
    [
      'no such factory',
      { factory: 'make' },
      `export const createA = ${FACTORY}`,
      'does not export the function make; set factory to one of: createA',
    ],
    [
      'an older interface',
      {},
      `export const createFake = () => ({ languageModel: () => ({ specificationVersion: 'v2', doStream() {} }) })`,
      'has interface v2 of the AI SDK, and v4 is needed',
    ],
    ['no such method', { method: 'chat' }, undefined, 'has no chats by chat'],
    ['no embeddings', { capabilities: ['embeddings'] }, undefined, 'has no embeddings'],
    ['a fault', {}, 'throw new Error("x")', 'cannot be loaded'],
    [
      'a factory that throws a secret',
      {},
      'export function createFake() { throw new TypeError("secret") }',
      'does not take its options (TypeError)',
    ],
  ])('with %s ends the start with a line', (_, entry, source, message) => {
    expect(() => open(entry, source)).toThrow(message)
  })

  it('has the factory and the method that its entry names', () => {
    const source = `export const createA = () => ({})\nexport const createB = () => ({ chat: () => ({ ${MODEL} }) })`
    expect(() => open({ factory: 'createB', method: 'chat' }, source)).not.toThrow()
  })

  it('needs each variable that its entry names', () => {
    expect(() => open({ options_env: { secretAccessKey: 'GONE' } })).toThrow(
      'models[0].options_env.secretAccessKey names GONE, which is not set',
    )
  })
})

describe('an entry of a package', () => {
  it.each([
    [{ package: '../evil' }, 'models[0].package must be the name of an npm package'],
    [{ package: '/abs/path' }, 'models[0].package must be the name of an npm package'],
    [{ options: { apiKey: 'k' } }, 'models[0].options must hold no keys'],
    [{ options: { a: { private_key: 'k' } } }, 'models[0].options must hold no keys'],
    [{ options: { headers: { Authorization: 'k' } } }, 'models[0].options must hold no keys'],
    [{ options: { baseURL: 'http://x' } }, 'models[0].options must not set baseURL or fetch'],
    [{ options_env: { baseURL: 'X' } }, 'models[0].options_env'],
    [{ upstreams: [{ base_url: 'http://x/v1' }] }, 'models[0].upstreams is not a field'],
    [{ factory: 'a b' }, 'models[0].factory must be a name of JavaScript'],
    [
      { capabilities: ['speech'] },
      'models[0].capabilities[0] of m is speech, which ai-sdk does not',
    ],
  ])('%o is refused', (more, message) => {
    const text = JSON.stringify({ models: [{ ...ENTRY, ...more }] })
    expect(() => parseModelsFile(text, 'models.json')).toThrow(message)
  })
})
