import { expect, it } from 'vitest'
import { openLangfuse } from '../../src/imports/langfuse.ts'
import { describeEachPlace } from '../project-files/project-folders.ts'
import { importServed, recordedResponses } from './importing.ts'

describeEachPlace('weft import --from', (open) => {
  it('imports the same records as into SQLite, and changes nothing the second time', async () => {
    const responses = recordedResponses('langfuse')
    const { report, records } = await importServed(openLangfuse, responses, await open())
    const inSqlite = await importServed(openLangfuse, responses)
    expect(report.counts).toMatchObject({ calls: expect.any(Number) })
    expect({ report, files: records.files }).toEqual({
      report: inSqlite.report,
      files: inSqlite.records.files,
    })
  })
})
