import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseModelsFile } from '../../src/inference/models/models-file.ts'
import { openModelRegistry } from '../../src/inference/models/registry.ts'
import { createScriptedBackend } from '../support/scripted-backend.ts'
import { makeTempDir } from '../support/temp-dir.ts'

function textWith(api_key_env: string): string {
  const model = { id: 'm', backend: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key_env }
  return JSON.stringify({ models: [model] })
}

describe('a models file with a key in the place of the name of its variable', () => {
  it('is refused with the rule for that name', () => {
    const told = 'models[0].api_key_env must be the name of a variable with the key'
    expect(() => parseModelsFile(textWith('sk-proj-1'), 'm')).toThrow(told)
  })

  it('is refused without the key where that could be a name', () => {
    const path = join(makeTempDir(), 'models.json')
    writeFileSync(path, textWith('gsk_0123abcd'))
    const open = () =>
      openModelRegistry({
        path,
        isRequired: true,
        readSecret: () => null,
        createTiny: () => createScriptedBackend([]),
      })
    expect(open).toThrow(`${path}: models[0].api_key_env names a variable, which is not set (`)
  })
})

it('a models file that is a list is refused with what it must be', () => {
  const told = 'm: the file must be an object with the list models'
  expect(() => parseModelsFile('[]', 'm')).toThrow(told)
})
