import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { AUDIT_ACTIONS } from '../../../src/schemas/access/audit.ts'

it('docs/access.md says of each action of the audit list when it is recorded', () => {
  const [, section = ''] = readFileSync('docs/access.md', 'utf8').split('\n## Audit\n')
  const [, table = ''] = section.split('| action |')
  const rows = table.split('\n\n')[0]?.split('\n').slice(2) ?? []
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
  expect(named.map(([, name]) => name).sort()).toEqual([...AUDIT_ACTIONS].sort())
})
