/** What happens when another request comes between two steps of one. */
import { expect, it, vi } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { PROJECT } from './object-fixtures.ts'

it('objects of a kind are made and deleted while another request deletes some', async () => {
  const { deps, post, delete: remove } = await buildTestApp()
  const { objects } = deps
  const others: string[] = []
  /** Another request comes between two steps of this one. */
  const deleteOne = (digest = '') => {
    others.push(digest)
    return objects.deleteObjects(PROJECT, 'x', [digest], 1)
  }
  const list = objects.listObjects
  vi.spyOn(objects, 'listObjects').mockImplementationOnce(async (listing, caller) => {
    const found = await list(listing, caller)
    await deleteOne(found[1]?.version.digest)
    return found
  })
  for (const n of [0, 1, 2]) await post(`/v2/${PROJECT}/datasets`, { name: 'x', rows: [{ n }] })
  expect((await remove(`/v2/${PROJECT}/datasets/x`)).body).toEqual({ num_deleted: 2 })
  const find = objects.findObject
  vi.spyOn(objects, 'findObject').mockImplementationOnce(async (...named) => {
    await deleteOne(named[2])
    return find(...named)
  })
  const { body } = await post(`/v2/${PROJECT}/datasets`, { name: 'x', rows: [{ n: 3 }] })
  expect(body).toEqual({ digest: others[1], object_id: 'x', version_index: 3 })
})
