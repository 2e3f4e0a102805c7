import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createReloadableRegistry } from '../../src/inference/models/registry.ts'
import { json, silence, startFakeUpstream } from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'
import { spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const HEADERS = { authorization: `Bearer ${TEST_KEY}` }

describe('SIGHUP', () => {
  it('reads the models file anew; a wrong one is logged and changes nothing', async () => {
    const dir = makeTempDir()
    const path = join(dir, 'models.json')
    const write = (...ids: string[]) =>
      writeFileSync(path, JSON.stringify({ models: ids.map((id) => ({ id, backend: 'tiny' })) }))
    write('a')
    const server = await spawnServer({ WEFT_DATA_DIR: dir, WEFT_MODELS_FILE: path })
    const list = async () => {
      const response = await fetch(`${server.url}/v1/models`, { headers: HEADERS })
      const { data } = (await response.json()) as { data: { id: string }[] }
      return data.map(({ id }) => id)
    }
    expect(await list()).toEqual(['a'])
    write('a', 'b')
    server.process.kill('SIGHUP')
    await expect.poll(list).toEqual(['a', 'b'])
    writeFileSync(path, '{')
    server.process.kill('SIGHUP')
    await expect.poll(() => server.output().stdout).toContain('is not valid JSON')
    expect(await list()).toEqual(['a', 'b'])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  it('during the start is followed when the server has started', async () => {
    const dataDir = makeTempDir()
    const starting = spawnServer({ WEFT_DATA_DIR: dataDir })
    // The file is written before most of the start.
    const pid = await vi.waitFor(() => {
      const found = /^(\d+)\n$/.exec(readFileSync(join(dataDir, 'weft.pid'), 'utf8'))
      return Number(found?.[1] ?? expect.unreachable())
    }, 30_000)
    process.kill(pid, 'SIGHUP')
    const server = await starting
    await expect.poll(() => server.output().stdout).toContain('models reloaded')
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})

describe('createReloadableRegistry', () => {
  it('keeps replaced backends open for what runs on them, and closes all at the end', async () => {
    const [shared, first, second] = [1, 2, 3].map(() => createScriptedBackend(HELLO))
    const readings = [
      [first, shared],
      [second, shared],
    ]
    let readCount = 0
    const models = createReloadableRegistry(() => {
      const backends = readings[readCount++]!
      return scriptedModels(...backends.map((backend) => ({ backend: backend! })))
    }, shared!)
    expect(models.getModel(null).backend).toBe(first)
    models.reload()
    expect(models.getModel(null).backend).toBe(second)
    expect(first?.closedCount()).toBe(0)
    await models.close()
    expect([shared, first, second].map((backend) => backend?.closedCount())).toEqual([1, 1, 1])
  })

  it('stays as it was when the reading fails', () => {
    let isBroken = false
    const backend = createScriptedBackend(HELLO)
    const models = createReloadableRegistry(() => {
      if (isBroken) throw new Error('wrong file')
      return scriptedModels({ backend })
    }, backend)
    isBroken = true
    expect(() => models.reload()).toThrow('wrong file')
    expect(models.getModel(null).backend).toBe(backend)
  })
})

describe('GET /v1/models over upstreams', () => {
  async function start(upstream: Awaited<ReturnType<typeof startFakeUpstream>>) {
    const server = await startModelServer(upstreamModel(upstream.baseUrl, { apiKey: 'up-key' }))
    return { list: () => server.get('/v1/models') }
  }

  it('adds what the upstream tells, asked once for many requests', async () => {
    const data = [{ id: 'org/relayed', max_model_len: 4096, root: '/secret/path' }]
    const upstream = await startFakeUpstream(json(200, { data }))
    const { list } = await start(upstream)
    await expect.poll(async () => (await list()).body.data[0].max_model_len).toBe(4096)
    for (let at = 0; at < 5; at++) await list()
    expect(upstream.requests).toHaveLength(1)
    expect(upstream.requests[0]).toMatchObject({
      url: '/v1/models',
      headers: { authorization: 'Bearer up-key' },
    })
    expect((await list()).body.data[0].root).toBe('org/relayed')
  })

  it.each([
    ['never answers', silence],
    ['fails', json(500, {})],
  ])('answers at once when the upstream %s', async (_name, behaviour) => {
    const { list } = await start(await startFakeUpstream(behaviour))
    const { status, body } = await list()
    expect([status, body.data[0].id]).toEqual([200, 'org/relayed'])
  })
})
