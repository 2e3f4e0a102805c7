import { describe, expect, it } from 'vitest'
import { createProjectVersions } from '../../src/store/sqlite/stats/project-versions.ts'

describe('createProjectVersions', () => {
  it('tells each change of a project, and of no other', () => {
    const versions = createProjectVersions()
    const [a, b] = [versions.of('a'), versions.of('b')]
    versions.raise('a')
    expect(versions.of('a')).not.toBe(a)
    expect(versions.of('b')).toBe(b)
  })

  it('tells a change of all, known and unknown, by texts that were never there', () => {
    const versions = createProjectVersions()
    const seen = new Set<string>()
    const note = (project_id: string) => {
      const text = versions.of(project_id)
      expect(seen).not.toContain(text)
      seen.add(text)
    }
    versions.raise('a')
    note('a')
    note('b')
    versions.raiseAll()
    note('a')
    versions.raiseAll()
    note('b')
    versions.raise('a')
    note('a')
  })
})
