import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { VARIABLE_NAMES } from '../../src/config.ts'

const FILES = ['Dockerfile', 'compose.yaml', 'weft.service', 'nginx.conf', 'Caddyfile']
const read = (name: string) => readFileSync(`deploy/${name}`, 'utf8')

describe('the files of deploy', () => {
  it.each(['Dockerfile', 'weft.service'])('%s starts the server by the command weft', (name) => {
    const [command = ''] = /^(?:CMD|ExecStart=).*$/m.exec(read(name)) ?? []
    expect(command.match(/[\w/.-]+/g)?.slice(-3)).toEqual([
      expect.stringMatching(/node$/),
      'src/weft.cjs',
      'start',
    ])
  })

  it.each(FILES)('%s names no variable that does not exist', (name) => {
    const named = read(name).match(/\bWEFT_[A-Z_]+/g) ?? []
    expect(named.filter((variable) => !VARIABLE_NAMES.includes(variable))).toEqual([])
  })
})
