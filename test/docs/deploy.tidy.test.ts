import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { START_ENVIRONMENT, START_FLAGS } from '../../bench/servers/start-flags.ts'
import { VARIABLE_NAMES } from '../../src/config.ts'

const FILES = ['Dockerfile', 'compose.yaml', 'weft.service', 'nginx.conf', 'Caddyfile']
const read = (name: string) => readFileSync(`deploy/${name}`, 'utf8')

describe('the files of deploy', () => {
  it.each(['Dockerfile', 'weft.service'])('%s starts node as npm start does', (name) => {
    const [command = ''] = /^(?:CMD|ExecStart=).*$/m.exec(read(name)) ?? []
    expect(command.match(/--[\w=./-]+/g)).toEqual(START_FLAGS)
    const settings = Object.entries(START_ENVIRONMENT).filter(([key]) => key.startsWith('MALLOC'))
    expect(settings.map(([key]) => key)).toEqual(['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_'])
    for (const [key, value] of settings) expect(read(name)).toContain(`${key}=${value}`)
  })

  it.each(FILES)('%s names no variable that does not exist', (name) => {
    const named = read(name).match(/\bWEFT_[A-Z_]+/g) ?? []
    expect(named.filter((variable) => !VARIABLE_NAMES.includes(variable))).toEqual([])
  })
})
