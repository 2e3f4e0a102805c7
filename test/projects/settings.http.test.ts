import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const project_id = 'acme/demo'

describe.each(['', '/traces'])('settings of projects below %s/', (root) => {
  it('tell what holds', async () => {
    const { post, get } = await buildTestApp()
    const ask = async (path: string, body: object) => (await post(`${root}${path}`, body)).body
    expect(await ask('/project/ttl_settings/read', { project_id })).toEqual({
      retention_days: null,
    })
    expect(await ask('/project/ingest_sampling_settings/read', { project_id })).toEqual({
      ...{ sample_rate: 1, dry_run: false },
    })
    const url = `${root}/project/sensitive_data_settings?project_id=${project_id}`
    expect((await get(url)).body).toEqual({ policy: 'off' })
  })

  it('cannot limit how long calls are kept, and say so', async () => {
    const { post } = await buildTestApp()
    const update = (fields: object) =>
      post(`${root}/project/ttl_settings/update`, { project_id, ...fields })
    expect((await update({ retention_days: null })).body).toEqual({ retention_days: null })
    const { status, body } = await update({ retention_days: 30 })
    expect([status, body.error.code, body.error.param]).toEqual([
      ...[422, 'validation_failed', 'retention_days'],
    ])
    expect((await update({ retention_days: 0 })).body.error.code).toBe('validation_failed')
  })

  it('need their scope and the project', async () => {
    const { post, get, createKey } = await buildTestApp()
    const write = await createKey({ scopes: ['traces:write'] })
    const read = await createKey({ scopes: ['traces:read'] })
    const elsewhere = await createKey({ projects: ['acme/other'] })
    const body = { project_id }
    const policy = `${root}/project/sensitive_data_settings?project_id=${project_id}`
    for (const [key, code] of [
      [null, 'missing_api_key'],
      [elsewhere, 'project_forbidden'],
    ] as const) {
      for (const path of [
        'ttl_settings/read',
        'ttl_settings/update',
        'ingest_sampling_settings/read',
      ]) {
        const answer = await post(`${root}/project/${path}`, body, { key })
        expect([path, answer.body.error.code]).toEqual([path, code])
      }
      expect((await get(policy, { key })).body.error.code).toBe(code)
    }
    const refusals = [
      await post(`${root}/project/ttl_settings/read`, body, { key: write }),
      await post(`${root}/project/ingest_sampling_settings/read`, body, { key: write }),
      await post(`${root}/project/ttl_settings/update`, body, { key: read }),
      await get(policy, { key: write }),
    ]
    expect(refusals.map((answer) => answer.body.error.code)).toEqual(Array(4).fill('scope_missing'))
  })
})
