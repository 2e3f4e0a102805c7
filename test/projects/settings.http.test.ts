import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const project_id = 'acme/demo'

describe.each(['', '/traces'])('settings of projects below %s/', (root) => {
  it('say which setting applies', async () => {
    const { post, get } = await buildTestApp()
    const url = `${root}/project/sensitive_data_settings?project_id=${project_id}`
    expect((await get(url)).body).toEqual({ policy: 'off' })
    const sampling = await post(`${root}/project/ingest_sampling_settings/read`, { project_id })
    expect(sampling.body).toEqual({ sample_rate: 1, dry_run: false })
  })

  it('say how long a project keeps its calls', async () => {
    const { post } = await buildTestApp()
    const ask = async (verb: string, body: object) =>
      (await post(`${root}/project/ttl_settings/${verb}`, body)).body
    const other = 'acme/other'
    expect(await ask('read', { project_id })).toEqual({ retention_days: null })
    const user = root === '' ? {} : { wb_user_id: 'someone' }
    const set = { project_id, retention_days: 30, ...user }
    expect(await ask('update', set)).toEqual({ retention_days: 30 })
    expect(await ask('read', { project_id })).toEqual({ retention_days: 30 })
    expect(await ask('read', { project_id: other })).toEqual({ retention_days: null })
    expect(await ask('update', { project_id, retention_days: null })).toEqual({
      retention_days: null,
    })
    expect(await ask('read', { project_id })).toEqual({ retention_days: null })
  })

  it('say the default of the server until a project has a setting of its own', async () => {
    const { post } = await buildTestApp({ retentionDays: 7 })
    const ask = async (verb: string, fields: object) =>
      (await post(`${root}/project/ttl_settings/${verb}`, { project_id, ...fields })).body
    expect(await ask('read', {})).toEqual({ retention_days: 7 })
    expect(await ask('update', {})).toEqual({ retention_days: null })
    expect(await ask('read', {})).toEqual({ retention_days: null })
  })

  it('are answered when the removal of calls by an older setting has ended', async () => {
    const { post, deps } = await buildTestApp()
    const hold = await deps.retention.pinRetention(project_id)
    const order: string[] = []
    const path = `${root}/project/ttl_settings/update`
    const answer = post(path, { project_id, retention_days: null }).then(() => order.push('told'))
    await expect.poll(() => deps.retention.findRetention(project_id)).not.toBeNull()
    order.push('removed')
    await hold?.end()
    await answer
    expect(order).toEqual(['removed', 'told'])
  })

  it.each([0, -1, 1.5, 36_501, '30', true, [30]])('refuse %j days', async (retention_days) => {
    const { post, deps } = await buildTestApp()
    const path = `${root}/project/ttl_settings/update`
    const { status, body } = await post(path, { project_id, retention_days })
    expect([status, body.error.code, body.error.param]).toEqual([
      ...[422, 'validation_failed', 'retention_days'],
    ])
    expect(await deps.retention.findRetention(project_id)).toBeNull()
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
      await post(`${root}/project/ttl_settings/update`, body, { key: write }),
      await get(policy, { key: write }),
    ]
    expect(refusals.map((answer) => answer.body.error.code)).toEqual(Array(5).fill('scope_missing'))
  })
})
