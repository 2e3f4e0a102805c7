import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig, VARIABLE_NAMES } from '../../src/config.ts'
import { readCommand, readDockerfile, readEnvironment } from '../image/dockerfile.ts'

const FILES = [
  'Dockerfile',
  'compose.yaml',
  'compose.clickhouse.yaml',
  'weft.service',
  'nginx.conf',
  'Caddyfile',
]
const read = (name: string) => readFileSync(`deploy/${name}`, 'utf8')

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly image?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly volumes?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: unknown
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}

const COMPOSE = ['compose.yaml', 'compose.clickhouse.yaml']
const compositionOf = (name: string) => parse(read(name)) as Composition

describe('the files of deploy', () => {
  it('weft.service starts the server by the command weft', () => {
    expect(read('weft.service')).toContain('\nExecStart=/usr/bin/node src/weft.cjs start\n')
  })

  it.each(FILES)('%s names no variable that does not exist', (name) => {
    const named = read(name).match(/\bWEFT_[A-Z_]+/g) ?? []
    // The password of a composition, which Weft does not read.
    const known = [...VARIABLE_NAMES, 'WEFT_DB_PASSWORD']
    expect(named.filter((variable) => !known.includes(variable))).toEqual([])
  })
})

describe('the image', () => {
  const { base, stages } = readDockerfile(read('Dockerfile'))
  const image = stages.at(-1)!

  it('starts the server by the command weft, as a user other than root, with data in the volume', () => {
    expect(base).toMatch(/^docker\.io\/library\/node:24-/)
    expect(readCommand(image, 'CMD')).toEqual(['node', 'src/weft.cjs', 'start'])
    expect(image.steps).toContainEqual({ name: 'USER', text: 'node' })
    expect(image.steps).toContainEqual({ name: 'VOLUME', text: '/data' })
    expect(readConfig(readEnvironment(image))).toMatchObject({ dataDir: '/data', host: '0.0.0.0' })
  })

  it('has a health check that is a program of Node', () => {
    const [node, flag, program = ''] = readCommand(image, 'HEALTHCHECK')
    expect([node, flag]).toEqual(['node', '-e'])
    expect(() => new Function(program)).not.toThrow()
  })

  it('copies only what is sent to the builder', () => {
    const sent = read('Dockerfile.dockerignore').match(/(?<=^!).*/gm) ?? []
    const copied = stages
      .flatMap(({ steps }) => steps)
      .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from'))
      .flatMap(({ text }) => text.split(' ').slice(0, -1))
    expect([...new Set(copied)].sort()).toEqual([...sent].sort())
    expect(sent.filter((path) => !existsSync(path))).toEqual([])
  })
})

describe('the compositions', () => {
  it.each(COMPOSE)(
    '%s declares the volumes that it names, and builds from files that exist',
    (name) => {
      const { services, volumes } = compositionOf(name)
      const named = Object.values(services)
        .flatMap((service) => service.volumes ?? [])
        .map((volume) => volume.split(':')[0])
      expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort())
      for (const { build } of Object.values(services)) {
        if (build !== undefined)
          expect(existsSync(`deploy/${build.context}/${build.dockerfile}`)).toBe(true)
      }
    },
  )

  it('compose.yaml runs the image read-only and without capabilities', () => {
    expect(compositionOf('compose.yaml').services.weft).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
    })
  })

  it('compose.clickhouse.yaml has settings that Weft reads, for databases that it waits for', () => {
    const { services } = compositionOf('compose.clickhouse.yaml')
    const { weft, clickhouse, postgres } = services
    const substitute = (text: string) => text.replace(/\$\{WEFT_DB_PASSWORD:\?[^}]*\}/g, 'pw')
    const environment = Object.fromEntries(
      Object.entries(weft?.environment ?? {}).map(([key, value]) => [key, substitute(value)]),
    )
    const config = readConfig(environment)
    expect(config).toMatchObject({
      store: 'clickhouse',
      clickhouse: { url: 'http://weft:pw@clickhouse:8123/weft' },
      metaUrl: 'postgres://weft:pw@postgres:5432/weft',
    })
    for (const [name, { condition }] of Object.entries(weft?.depends_on ?? {})) {
      expect(condition).toBe('service_healthy')
      expect(services[name]?.healthcheck).toBeDefined()
      expect(services[name]?.image).toMatch(/:[\d.]+$/)
    }
    expect(Object.keys(weft?.depends_on ?? {})).toEqual(['clickhouse', 'postgres'])
    expect(clickhouse?.environment).toMatchObject({
      CLICKHOUSE_DB: 'weft',
      CLICKHOUSE_USER: 'weft',
    })
    expect(postgres?.environment).toMatchObject({ POSTGRES_DB: 'weft', POSTGRES_USER: 'weft' })
  })
})
