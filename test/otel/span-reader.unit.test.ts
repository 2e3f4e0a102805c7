import { expect, it, onTestFinished } from 'vitest'
import { createTraceReader, optionsOfTraceReader } from '../../src/otel/span-reader.ts'

it('reads the large trace requests that wait behind one that is too large for the memory', async () => {
  const threadFile = new URL('./support/dying-span-reader-entry.ts', import.meta.url)
  const reader = createTraceReader({ heapMibMax: 16, threadFile })
  onTestFinished(() => reader.close())
  const read = (project_id: string) =>
    reader.read({
      ...{ encoding: 'json', bytes: new Uint8Array(1024 * 1024), project_id },
      ...{ default_project_id: null, refScheme: 'weave', svc_user_id: 'u', svc_username: 'U' },
    })
  const [huge, ...others] = await Promise.allSettled(['huge', 'a', 'b'].map(read))
  expect(huge).toMatchObject({ status: 'rejected', reason: { code: 'request_too_large' } })
  expect(others).toMatchObject([{ value: { projects: ['a'] } }, { value: { projects: ['b'] } }])
})

it('refuses objects that would take all memory of the process along when they are parsed', async () => {
  const { threadFile } = optionsOfTraceReader(0)
  const reader = createTraceReader({ heapMibMax: 64, threadFile })
  onTestFinished(() => reader.close())
  const text = `{"resourceSpans":[],"rest":[${'{},'.repeat(2_000_000)}-0]}`
  const request = { encoding: 'json', bytes: Buffer.from(text), project_id: 'a/b' } as const
  const names = {
    default_project_id: null,
    refScheme: 'weave',
    svc_user_id: 'u',
    svc_username: 'U',
  }
  await expect(reader.read({ ...request, ...names })).rejects.toMatchObject({
    code: 'request_too_large',
  })
})
