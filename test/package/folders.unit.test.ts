import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'

type Environment = Readonly<Record<string, string>>
const { findFolder, isSupported } = createRequire(import.meta.url)('../../src/weft.cjs') as {
  findFolder(
    kind: string,
    platform: string,
    environment: Environment,
    readHome: () => string,
  ): string
  isSupported(version: string): boolean
}

function raise(message: string): never {
  throw new Error(message)
}

describe('the folders of an installed Weft', () => {
  it.each([
    ['linux', {}, '/home/me/.local/share/weft', '/home/me/.cache/weft'],
    ['linux', { XDG_DATA_HOME: '/d', XDG_CACHE_HOME: '/c' }, '/d/weft', '/c/weft'],
    ['linux', { XDG_DATA_HOME: 'd' }, '/home/me/.local/share/weft', '/home/me/.cache/weft'],
    [
      'darwin',
      { XDG_DATA_HOME: '/d' },
      '/home/me/Library/Application Support/weft',
      '/home/me/Library/Caches/weft',
    ],
    ['win32', { LOCALAPPDATA: 'L:\\local' }, 'L:\\local\\weft\\data', 'L:\\local\\weft\\cache'],
  ] as const)('on %s with %j are the usual ones', (platform, environment, data, cache) => {
    const find = (kind: string) => findFolder(kind, platform, environment, () => '/home/me')
    expect([find('data'), find('cache')]).toEqual([data, cache])
  })

  it.each([
    ['an unlisted user', () => raise('uv_os_homedir returned ENOENT')],
    ['an empty HOME', () => ''],
  ])('are below / for %s', (_what, readHome) => {
    expect(findFolder('data', 'linux', {}, readHome)).toBe('/.local/share/weft')
    expect(findFolder('cache', 'linux', {}, readHome)).toBe('/.cache/weft')
  })
})

it.each([
  ['22.18.9', false],
  ['20.20.2', false],
  ['22.19.0', true],
  ['24.0.0', true],
])('Node %s is supported: %s', (version, expected) => {
  expect(isSupported(version)).toBe(expected)
})
