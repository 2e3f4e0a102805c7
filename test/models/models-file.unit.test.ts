import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ANTHROPIC_OFFERS } from '../../src/inference/anthropic/fields.ts'
import { requireAnswerable } from '../../src/inference/chat/completion-run.ts'
import { ModelEntry } from '../../src/inference/models/model-entry.ts'
import { parseModelsFile, readModelsFile } from '../../src/inference/models/models-file.ts'
import { listOffers } from '../../src/inference/models/offers.ts'
import { type OpenModelsOptions, openModelRegistry } from '../../src/inference/models/registry.ts'
import { ENGINE_OFFERS, ENGINES } from '../../src/inference/openai/profiles.ts'
import { TINY_OFFERS } from '../../src/inference/tiny/description.ts'
import { LOCALHOST_CERTIFICATE } from '../support/localhost-certificate.ts'
import { createScriptedBackend } from '../support/scripted-backend.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const TINY = { id: 'tiny', backend: 'tiny' }
const RELAYED = { id: 'org/m', backend: 'openai', base_url: 'http://127.0.0.1:9/v1' }

function parse(...models: unknown[]) {
  return parseModelsFile(JSON.stringify({ models }), 'models.json')
}

function writeModels(...models: unknown[]): string {
  const path = join(makeTempDir(), 'models.json')
  writeFileSync(path, JSON.stringify({ models }))
  utimesSync(path, 1_600_000_000, 1_600_000_000)
  return path
}

function open(path: string, more: Partial<OpenModelsOptions> = {}) {
  const registry = openModelRegistry({
    path,
    isRequired: true,
    readSecret: () => 'secret',
    createTiny: () => createScriptedBackend([]),
    ...more,
  })
  onTestFinished(() => registry.close())
  return registry
}

describe('parseModelsFile', () => {
  it('fills in defaults: tiny calls tools, a relayed model only if its entry says so', () => {
    expect(parse(TINY, RELAYED)).toEqual([
      {
        ...TINY,
        aliases: [],
        owned_by: 'weft',
        tools: true,
        priority_scheduling: false,
        fallbacks: [],
        default: false,
      },
      {
        ...RELAYED,
        aliases: [],
        owned_by: 'weft',
        tools: false,
        priority_scheduling: false,
        fallbacks: [],
        default: false,
        engine: 'generic',
        unsupported: 'reject',
        timeout_ms: { connect: 5_000, first_byte: 120_000, idle: 60_000, total: 600_000 },
        retries: { max: 2, within_ms: 10_000, on: [] },
        balance: 'least_busy',
      },
    ])
  })

  it('keeps the other timeouts when one is given', () => {
    const [entry] = parse({ ...RELAYED, timeout_ms: { idle: 5 } })
    expect(entry).toMatchObject({ timeout_ms: { connect: 5_000, idle: 5 } })
  })

  it.each([
    ['no list', [], 'models'],
    ['an entry that is no object', [7], 'models[0]'],
    ['no id', [{ backend: 'tiny' }], 'models[0].id'],
    ['an id with spaces around', [{ ...TINY, id: ' x' }], 'models[0].id'],
    ['an id that ends in a slash', [{ ...TINY, id: 'x/' }], 'models[0].id'],
    ['no backend', [{ id: 'x' }], 'models[0].backend'],
    ['an unknown backend', [TINY, { id: 'x', backend: 'vllm' }], 'models[1].backend'],
    ['an unknown field', [{ ...TINY, colour: 1 }], 'models[0].colour'],
    ['a field of the other backend', [{ ...TINY, base_url: 'http://x' }], 'models[0].base_url'],
    ['no base_url', [{ id: 'x', backend: 'openai' }], 'models[0].base_url'],
    ['a base_url of another scheme', [{ ...RELAYED, base_url: 'file:///x' }], 'models[0].base_url'],
    [
      'a base_url with credentials',
      [{ ...RELAYED, base_url: 'http://a:b@x' }],
      'models[0].base_url',
    ],
    [
      'a base_url with the path of an endpoint',
      [{ ...RELAYED, base_url: 'http://x/v1/chat/completions' }],
      'models[0].base_url must end before',
    ],
    [
      'a key in the file',
      [{ ...RELAYED, api_key: 'sk-1' }],
      'models[0].api_key is not a field; api_key_env',
    ],
    ['a wrong upstream_model', [{ ...RELAYED, upstream_model: 7 }], 'models[0].upstream_model'],
    [
      'a variable of our own',
      [{ ...RELAYED, api_key_env: 'WEFT_BOOTSTRAP_KEY' }],
      'models[0].api_key_env',
    ],
    ['wrong aliases', [{ ...TINY, aliases: 'x' }], 'models[0].aliases'],
    ['a wrong alias', [{ ...TINY, aliases: ['x', ''] }], 'models[0].aliases[1]'],
    ['a wrong owned_by', [{ ...TINY, owned_by: '' }], 'models[0].owned_by'],
    ['no capability', [{ ...TINY, capabilities: [] }], 'models[0].capabilities'],
    ['an unknown capability', [{ ...TINY, capabilities: ['x'] }], 'models[0].capabilities[0]'],
    [
      'what tiny cannot be asked',
      [{ ...TINY, capabilities: ['chat', 'images'] }],
      'models[0].capabilities[1]',
    ],
    [
      'what an engine cannot be asked',
      [{ ...RELAYED, engine: 'vllm', capabilities: ['moderations'] }],
      'models[0].capabilities[0]',
    ],
    [
      'tools of a model that is not asked by chat',
      [{ ...RELAYED, tools: true, capabilities: ['embeddings'] }],
      'models[0].tools',
    ],
    ['a wrong tools', [{ ...TINY, tools: 'yes' }], 'models[0].tools'],
    [
      'a wrong priority_scheduling',
      [{ ...TINY, priority_scheduling: 1 }],
      'models[0].priority_scheduling',
    ],
    ['a wrong default', [{ ...TINY, default: 1 }], 'models[0].default'],
    ['an unknown engine', [{ ...RELAYED, engine: 'tgi' }], 'models[0].engine'],
    ['a wrong unsupported', [{ ...RELAYED, unsupported: 'pass' }], 'models[0].unsupported'],
    ['a wrong max_concurrent', [{ ...TINY, max_concurrent: 0 }], 'models[0].max_concurrent'],
    ['a wrong fallback', [{ ...TINY, fallbacks: [''] }], 'models[0].fallbacks[0]'],
    ['an unknown fallback', [{ ...TINY, fallbacks: ['x'] }], 'models[0].fallbacks[0]'],
    ['itself as a fallback', [{ ...TINY, fallbacks: ['tiny'] }], 'models[0].fallbacks[0]'],
    ['no upstream', [{ id: 'x', backend: 'openai', upstreams: [] }], 'models[0].upstreams'],
    [
      'upstreams beside base_url',
      [{ ...RELAYED, upstreams: [{ base_url: 'http://x' }] }],
      'models[0].base_url',
    ],
    [
      'a wrong weight',
      [{ id: 'x', backend: 'openai', upstreams: [{ base_url: 'http://x', weight: 0 }] }],
      'models[0].upstreams[0].weight',
    ],
    ['a wrong timeout', [{ ...RELAYED, timeout_ms: { idle: 0 } }], 'models[0].timeout_ms.idle'],
    ['an unknown timeout', [{ ...RELAYED, timeout_ms: { read: 1 } }], 'models[0].timeout_ms.read'],
    ['an id twice', [TINY, TINY], 'models[1].id'],
    ['an alias that is an id', [TINY, { ...RELAYED, aliases: ['tiny'] }], 'models[1].aliases[0]'],
    [
      'two defaults',
      [
        { ...TINY, default: true },
        { ...RELAYED, default: true },
      ],
      'models[1].default',
    ],
  ])('refuses %s, naming the place', (_name, models, place) => {
    expect(() => parse(...models)).toThrow(
      expect.objectContaining({
        name: 'ModelsFileError',
        message: expect.stringMatching(
          new RegExp(`^models\\.json: ${place.replace(/[[\].]/g, '\\$&')} [^\\n]+$`),
        ),
      }),
    )
  })

  it.each([
    ['{"models": [\n{"id": "a",}]}', 'm: is not valid JSON: Expected .* \\(line 2 column 12\\)$'],
    ['{"models": [{"key": "sk-secret"},]}', "m: is not valid JSON: Unexpected token ']'$"],
  ])('says what is wrong with %s, without a piece of it', (text, message) => {
    expect(() => parseModelsFile(text, 'm')).toThrow(new RegExp(`^${message}`))
  })

  it('refuses what is no JSON, or no object', () => {
    for (const text of ['{', '[]', '7']) {
      expect(() => parseModelsFile(text, 'm')).toThrow(
        expect.objectContaining({ name: 'ModelsFileError' }),
      )
    }
  })
})

describe('readModelsFile', () => {
  it('is null for a missing file, unless it must exist', () => {
    expect(readModelsFile('/nonexistent/m.json', false)).toBeNull()
    expect(() => readModelsFile('/nonexistent/m.json', true)).toThrow(
      expect.objectContaining({ name: 'ModelsFileError' }),
    )
  })

  it('refuses a directory even if no file is needed', () => {
    expect(() => readModelsFile(makeTempDir(), false)).toThrow(
      expect.objectContaining({ name: 'ModelsFileError' }),
    )
  })
})

describe('openModelRegistry', () => {
  it('serves the models of the file under ids and aliases, the first one by default', () => {
    const models = open(writeModels({ ...RELAYED, aliases: ['m'], tools: true }, TINY))
    expect(models.getModel('m')).toBe(models.getModel('org/m'))
    expect(models.getModel(null).id).toBe('org/m')
    expect(models.getModel('m')).toMatchObject({
      capabilities: { tools: true, prioritySchedulingEnabled: false },
      backendModel: 'org/m',
    })
    expect(models.listEntries().map(({ id }) => id)).toEqual(['org/m', 'tiny'])
  })

  it('serves tiny without a file, and tiny calls tools unless the file says otherwise', () => {
    const toolsOf = (path: string) =>
      open(path, { isRequired: false }).getModel('tiny').capabilities.tools
    expect(toolsOf('/nonexistent/m.json')).toBe(true)
    expect(toolsOf(writeModels(TINY))).toBe(true)
    expect(toolsOf(writeModels({ ...TINY, tools: false }))).toBe(false)
  })

  it('names the model and what there is where a capability cannot be', () => {
    const entry = { ...RELAYED, engine: 'llama-server', capabilities: ['images'] }
    expect(() => parse(entry)).toThrow(
      'models[0].capabilities[0] of org/m is images, which llama-server does not have; it has chat, completions, embeddings, tokenize',
    )
  })

  it('offers the default services of the engine, or those in the file', () => {
    const offersOf = (entry: object) => {
      const models = open(writeModels(entry))
      return listOffers(models.getModel(null))
    }
    expect(offersOf(RELAYED)).toEqual(['chat', 'completions', 'embeddings'])
    expect(offersOf({ ...RELAYED, engine: 'vllm' })).toContain('tokenize')
    expect(offersOf({ ...RELAYED, capabilities: ['moderations'] })).toEqual(['moderations'])
  })

  it('sends tools that are no functions to engines that know them', () => {
    const takes = ['generic', 'openai', 'vllm'].map((engine) => {
      return open(writeModels({ ...RELAYED, engine })).getModel(null).capabilities.otherTools
    })
    expect(takes).toEqual([true, true, false])
  })

  it('takes the marked default, and the upstream name where one is given', () => {
    const models = open(writeModels(TINY, { ...RELAYED, default: true, upstream_model: 'up' }))
    expect(models.getModel(undefined)).toMatchObject({ id: 'org/m', backendModel: 'up' })
  })

  it('reports the time of the file’s last change as created', () => {
    expect(open(writeModels(TINY)).getEntry('tiny').created).toBe(1_600_000_000)
  })

  it('refuses a variable that is not set, naming it', () => {
    const path = writeModels(TINY, { ...RELAYED, api_key_env: 'UPSTREAM_KEY' })
    expect(() => open(path, { readSecret: () => null })).toThrow(
      expect.objectContaining({
        name: 'ModelsFileError',
        message: expect.stringContaining('models[1].api_key_env names UPSTREAM_KEY'),
      }),
    )
  })

  it.each(['k\n', 'k\r\nx: y', 'ключ'])('refuses %j as a key, without repeating it', (key) => {
    const path = writeModels({ ...RELAYED, api_key_env: 'UPSTREAM_KEY' })
    expect(() => open(path, { readSecret: () => key })).toThrow(
      expect.objectContaining({
        name: 'ModelsFileError',
        message: `${path}: models[0].api_key_env names UPSTREAM_KEY, which holds what no header can carry`,
      }),
    )
  })

  it('trusts the certificates of a file beside the models file', () => {
    const path = writeModels({ ...RELAYED, ca_file: 'ca.pem' })
    writeFileSync(join(dirname(path), 'ca.pem'), LOCALHOST_CERTIFICATE)
    expect(open(path).getModel('org/m').id).toBe('org/m')
  })

  const broken = LOCALHOST_CERTIFICATE.replace('MIIB', 'MIIC')
  it.each([
    ['is not there', null, 'which cannot be read (ENOENT)'],
    ['is something else', 'key', 'which holds no certificate in PEM'],
    ['is broken', LOCALHOST_CERTIFICATE + broken, 'which holds a broken certificate, number 2'],
    ['is too large', 'x'.repeat(1024 * 1024 + 1), 'which has more than 1048576 bytes'],
  ])('refuses a file of certificates that %s, naming its place', (_name, text, fault) => {
    const upstreams = [{ base_url: 'https://a', ca_file: 'ca.pem' }]
    const path = writeModels({ id: 'x', backend: 'openai', upstreams })
    const file = join(dirname(path), 'ca.pem')
    if (text !== null) writeFileSync(file, text)
    const message = `${path}: models[0].upstreams[0].ca_file names ${file}, ${fault}`
    expect(() => open(path)).toThrow(expect.objectContaining({ name: 'ModelsFileError', message }))
  })

  it.each([
    ['vllm', null],
    ['generic', null],
    ['ollama', 'logits_processors'],
  ])('refused logits_processors for every engine, also for %s', (engine, param) => {
    const model = open(writeModels({ ...RELAYED, engine })).getModel('org/m')
    const request = { messages: [], logits_processors: ['x'] }
    if (param === null) requireAnswerable(request, model)
    else {
      const refusal = { code: 'unsupported_parameter', param }
      expect(() => requireAnswerable(request, model)).toThrow(expect.objectContaining(refusal))
    }
  })

  it('refuses a variable of one of several upstreams that is not set, naming its place', () => {
    const upstreams = [{ base_url: 'http://a' }, { base_url: 'http://b', api_key_env: 'B_KEY' }]
    const path = writeModels({ id: 'x', backend: 'openai', upstreams })
    expect(() => open(path, { readSecret: () => null })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('models[0].upstreams[1].api_key_env names B_KEY'),
      }),
    )
  })

  it('opens one embedded backend for all its names and closes it once', async () => {
    const backend = createScriptedBackend([])
    let openedCount = 0
    const createTiny = () => {
      openedCount += 1
      return backend
    }
    const models = openModelRegistry({
      path: writeModels(TINY, { ...TINY, id: 'other' }),
      isRequired: true,
      readSecret: () => null,
      createTiny,
    })
    await models.close()
    expect([openedCount, backend.closedCount()]).toEqual([1, 1])
  })

  it('has nothing for an unknown name, not even one of every object', () => {
    const models = open(writeModels(TINY))
    for (const name of ['nope', '', 'constructor', '__proto__']) {
      expect(() => models.getModel(name)).toThrow(
        expect.objectContaining({ code: 'model_not_found' }),
      )
    }
  })
})

describe.each(['README.md', 'docs/models.md'])('the examples of %s', (path) => {
  const text = readFileSync(path, 'utf8')
  const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)]
  // Responses of routes are JSON, too.
  const examples = blocks.filter(([, json = '']) => 'models' in JSON.parse(json))

  it.each(examples.map(([, json = ''], index) => [index + 1, json]))(
    'hold in number %i',
    (_n, json) => {
      expect(parseModelsFile(json, path).length).toBeGreaterThan(0)
    },
  )

  it('are there', () => {
    expect(examples.length).toBeGreaterThan(0)
  })
})

describe('docs/models.md', () => {
  const text = readFileSync('docs/models.md', 'utf8')

  it('has an example for each engine', () => {
    for (const engine of ENGINES.filter((name) => name !== 'generic')) {
      expect(text).toContain(`"engine": "${engine}"`)
    }
  })

  it('lists every field of an entry', () => {
    const fields = new Set(ModelEntry.options.flatMap(({ shape }) => Object.keys(shape)))
    const rows = [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name)
    expect(rows.sort()).toEqual([...fields].sort())
  })

  it('lists the capabilities of each kind of model', () => {
    const kinds = ['tiny', ...ENGINES, 'anthropic']
    const told = kinds.map((_, column) => {
      const cells = [...text.matchAll(/^\| ([a-z_]+) \|[^|]*\|(.*)\|$/gm)].map(([, name, rest]) => [
        name,
        rest?.split('|')[column]?.trim(),
      ])
      const marked = (mark: string) =>
        cells.filter(([, cell]) => cell === mark).map(([name]) => name)
      return { usual: marked('usual'), more: marked('can') }
    })
    const ends = [TINY_OFFERS, ANTHROPIC_OFFERS].map((usual) => ({ usual, more: [] }))
    const real = ENGINES.map((name) => ENGINE_OFFERS[name])
    expect(told).toEqual([ends[0], ...real, ends[1]])
  })
})
