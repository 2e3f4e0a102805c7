/** Objects, tables and forms for the tests of published contents. */
import { expect, it } from 'vitest'
import { basic, buildTestApp, type TestApp, type TestResponse } from '../support/build-test-app.ts'

export const PROJECT = 'acme/demo'

/** A content as the public clients write an op. */
export const OP_VAL = {
  _type: 'CustomWeaveType',
  weave_type: { type: 'Op' },
  files: { 'obj.py': 'bbv9nXRYqK8XIvq2D5wf1IpVDbpIXfJzYvm9OLhUY4Q' },
  load_op: 'NO_LOAD_OP',
}

/** A content as the public clients write an object of a class. */
export const MODEL_VAL = {
  _type: 'MyModel',
  name: 'm',
  _class_name: 'MyModel',
  _bases: ['Model', 'Object', 'BaseModel'],
}

export function objectOf(fields: object = {}) {
  return { obj: { project_id: PROJECT, object_id: 'thing', val: { a: 1 }, ...fields } }
}

/** Publishes versions of one object, and gives their digests. */
export async function publish({ post }: TestApp, ...vals: unknown[]): Promise<string[]> {
  const digests: string[] = []
  for (const val of vals) digests.push((await post('/obj/create', objectOf({ val }))).body.digest)
  return digests
}

export function tableOf(rows: readonly object[]) {
  return { table: { project_id: PROJECT, rows } }
}

/** Stores a table and gives back its digests. */
export async function storeTable({ post }: TestApp, rows: readonly object[]) {
  const { body } = await post('/table/create', tableOf(rows))
  return body as { digest: string; row_digests: string[] }
}

/** The contents of a table, in its order. */
export async function readRows({ post }: TestApp, digest: string, fields: object = {}) {
  const { body } = await post('/table/query', { project_id: PROJECT, digest, ...fields })
  return body.rows.map((row: { val: unknown }) => row.val)
}

interface FormFields {
  readonly project_id?: string
  readonly expected_digest?: string
  readonly file?: Uint8Array | string
  /** Whether the file comes before the fields. */
  readonly isFileFirst?: boolean
  readonly [field: string]: unknown
}

/** POSTs a form as the public clients do. */
export async function postForm(
  { app, key }: Pick<TestApp, 'app' | 'key'>,
  url: string,
  { file, isFileFirst, ...fields }: FormFields,
  options: { key?: string } = {},
): Promise<TestResponse> {
  const form = new FormData()
  const addFile = () => {
    if (file !== undefined) form.append('file', new Blob([file as string]), 'blob')
  }
  if (isFileFirst) addFile()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  if (!isFileFirst) addFile()
  const encoded = new Request('http://form/', { method: 'POST', body: form })
  const response = await app.inject({
    method: 'POST',
    url,
    payload: Buffer.from(await encoded.arrayBuffer()),
    headers: {
      'content-type': encoded.headers.get('content-type') ?? '',
      authorization: basic(options.key ?? key),
    },
  })
  return {
    status: response.statusCode,
    body: response.json(),
    text: response.body,
    headers: response.headers,
  }
}

/** A field at fault, and the fields that a good request is given to have it. */
type BadFields = readonly [param: string, fields: object]

/**
 * One test for all bad fields of a route: each is refused by its path.
 *
 * @param base - a good request
 * @param check - what must hold afterwards, as that nothing was stored
 */
export function itRefusesBadFields(
  url: string,
  base: object,
  list: readonly BadFields[],
  check: (app: TestApp) => Promise<void> = async () => {},
): void {
  it(`answers validation_failed by its path for each of ${list.length} bad fields`, async () => {
    const app = await buildTestApp()
    const responses: unknown[] = []
    for (const [, fields] of list) {
      const { status, body } = await app.post(url, { ...base, ...fields })
      responses.push([status, body.error?.code, body.error?.param])
    }
    expect(responses).toEqual(list.map(([param]) => [422, 'validation_failed', param]))
    await check(app)
  })
}
