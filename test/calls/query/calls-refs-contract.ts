/** What lists of calls must find behind refs, whatever calls, objects and tables are stored in. */
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import { newObject, storeTable } from '../../objects/object-store-contract.ts'
import { startOf } from '../../store/calls/call-store-contract.ts'
import { readCaller } from '../../support/read-caller.ts'
import type { CallsQueryStores } from './calls-query-contract.ts'

const project_id = 'acme/demo'
const REACH = { refScheme: 'weave', projects: [project_id] }
/** More rows than a block of a table. */
const ROWS = 1100
const nameOf = (name: string) => ({ name })
const refOf = (object: string) => `weave:///acme/demo/object/${object}`

async function fillObjects(stores: CallsQueryStores) {
  const { objects } = stores
  const values = Array.from({ length: ROWS }, (_, at) => nameOf(`row ${at}`))
  const { table, rowDigests } = await storeTable(stores, values)
  const rows = `weave:///acme/demo/table/${table.digest}`
  const child = { name: 'child', list: [nameOf('first'), nameOf('second')], 'a/b': nameOf('odd') }
  const leaf = newObject({ name: 'leaf', child: nameOf('leaf child') }, { object_id: 'leaf' })
  await objects.createObject(leaf)
  const tree = {
    name: 'tree',
    child,
    rows,
    row: `${rows}/index/3`,
    next: refOf('leaf:v0'),
    away: 'weave:///acme/other/object/far:v0',
    loop: refOf('tree:v0/attr/loop'),
  }
  await objects.createObject(newObject(tree, { object_id: 'tree' }))
  await objects.setAliases({ project_id, object_id: 'tree', version: 'v0', names: ['prod'] })
  for (const n of [0, 1]) {
    await objects.createObject(newObject(nameOf(`gone ${n}`), { object_id: 'gone' }))
  }
  await objects.deleteObjects(project_id, 'gone', ['v1'], 9)
  const far = { object_id: 'far', project_id: 'acme/other' }
  await objects.createObject(newObject(nameOf('far'), far))
  return { rows, rowDigest: rowDigests[7] ?? '', leafDigest: leaf.digest }
}

/** @param create - empty stores that close themselves when the test ends */
export function describeCallsRefsContract(
  name: string,
  create: () => Promise<CallsQueryStores>,
): void {
  describe(`${name} keeps the CallsQueryStore contract of refs`, () => {
    it('reads what refs with edges lead to, through tables and other refs', async () => {
      const stores = await create()
      const { rows, rowDigest, leafDigest } = await fillObjects(stores)
      /** Refs with the name behind them; null: none. */
      const behind: readonly (readonly [ref: string, name: string | null])[] = [
        [refOf('tree:v0'), 'tree'],
        [refOf('tree:prod/attr/child'), 'child'],
        [refOf('tree:v0/attr/child/attr/list/index/1'), 'second'],
        [refOf('tree:v0/attr/child/attr/list/index/2'), null],
        [refOf('tree:v0/attr/child/attr/list/attr/1'), null],
        [refOf('tree:latest/key/child/key/a%2Fb'), 'odd'],
        [refOf('tree:v0/attr/none/attr/child'), null],
        [refOf('tree:v0/attr/rows/index/1050'), 'row 1050'],
        [refOf(`tree:v0/attr/rows/index/${ROWS}`), null],
        [refOf(`tree:v0/attr/rows/id/${rowDigest}`), 'row 7'],
        [refOf('tree:v0/attr/rows/attr/name'), null],
        [refOf('tree:v0/attr/row'), null],
        [refOf('tree:v0/attr/next/attr/child'), 'leaf child'],
        [refOf('tree:v0/attr/away/attr/name'), null],
        [refOf('tree:v0/attr/loop/attr/name'), null],
        [refOf(`leaf:${leafDigest}`), 'leaf'],
        [refOf('tree:v0/bad/child'), null],
        [refOf('tree:v0/index/x'), null],
        [refOf('gone:latest'), 'gone 0'],
        [refOf('gone:v1'), null],
        [refOf('gone:v2'), null],
        [refOf('none:v0'), null],
        ['weave:///acme/other/object/far:v0', null],
        [rows, null],
        [`${rows}/index/0`, 'row 0'],
        [`${rows}/index/999999999999999`, null],
        [`${rows}/id/unknown`, null],
        ['weave:///acme/demo/table/unknown/index/0', null],
        ['weave:///acme/demo/call/r00', null],
        ['no ref', null],
        // PostgreSQL cannot even be asked for such a text.
        [refOf('tree\0:v0'), null],
        [`${rows}/id/%00`, null],
      ]
      const idOf = (at: number) => `r${String(at).padStart(2, '0')}`
      await stores.calls.writeParts(
        behind.map(([ref], at) => ({
          start: startOf({ id: idOf(at), trace_id: 't', inputs: { ref } }),
          end: null,
        })),
      )
      const shape = resolveCallsShape({ project_id, columns: ['id'] })
      const find = async (wanted: string | null) => {
        const query = { $expr: { $eq: [{ $getField: 'inputs.ref.name' }, { $literal: wanted }] } }
        const asked = { project_id, query, expand_columns: ['inputs.ref'] }
        const selection = resolveCallsSelection(asked, REACH)
        const found: string[] = []
        for await (const page of stores.callsQuery.pages(selection, shape, readCaller())) {
          found.push(...page.map(({ call }) => call.id))
        }
        const { count } = await stores.callsQuery.count(selection, readCaller())
        expect(count).toBe(found.length)
        return found
      }
      for (const wanted of new Set(behind.map(([, name]) => name))) {
        const ids = behind.flatMap(([, name], at) => (name === wanted ? idOf(at) : []))
        expect([wanted, await find(wanted)]).toEqual([wanted, ids])
      }
    })
  })
}
