/**
 * Runs the steps of deploy/Dockerfile in a clean Debian root, as there may be no daemon of containers, and then the image as
 * deploy/compose.yaml does: read-only, without capabilities, as the user of the image. Needs Linux, root and mmdebstrap.
 *
 * node test/image/run-image.ts
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fillOlderDirectory, requireSameReads } from '../upgrade/older-release.ts'
import {
  type Instruction,
  readCommand,
  readDockerfile,
  readEnvironment,
  type Stage,
} from './dockerfile.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The user `node` of the base image. */
const USER_ID = 1000
/** A shutdown takes at most 9.5 s. */
const STOP_MS_MAX = 10_000
const AUTHORITIES = '/tmp/authorities.crt'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

process.chdir(ROOT)
const work = mkdtempSync(join(tmpdir(), 'weft-image-'))
const { base, stages } = readDockerfile(readFileSync('deploy/Dockerfile', 'utf8'))
const sent =
  readFileSync('deploy/Dockerfile.dockerignore', 'utf8')
    .match(/^!.*/gm)
    ?.map((line) => line.slice(1)) ?? []
try {
  makeBase(join(work, 'base'))
  const roots = new Map<string | null, string>()
  for (const stage of stages) {
    const root = join(work, stage.name ?? 'image')
    roots.set(stage.name, root)
    execFileSync('cp', ['-a', join(work, 'base'), root])
    let folder = '/'
    for (const step of stage.steps) folder = runStep(step, root, folder, roots)
  }
  await tryImage(join(work, 'image'), stages.at(-1) as Stage)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** What the base image has: Debian, Node with npm, and a user. */
function makeBase(root: string): void {
  const [, major = '', suite = ''] = /node:(\d+)-(\w+)-slim/.exec(base) ?? []
  if (!process.version.startsWith(`v${major}.`))
    throw new Error(`${base} has not ${process.version}`)
  report(`Debian ${suite} with Node ${process.version}`)
  const packages = '--include=libstdc++6,ca-certificates'
  execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', packages, suite, root])
  cpSync(process.execPath, join(root, 'usr/local/bin/node'))
  const npm = dirname(
    dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())),
  )
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'), { dereference: true })
  execFileSync('chroot', [root, 'useradd', '--uid', String(USER_ID), '--create-home', 'node'])
}

/** @returns the working directory of the next step */
function runStep(
  { name, text }: Instruction,
  root: string,
  folder: string,
  roots: ReadonlyMap<string | null, string>,
): string {
  if (name === 'WORKDIR') {
    mkdirSync(join(root, text), { recursive: true })
    return text
  }
  if (name === 'RUN') {
    report(`RUN ${text}`)
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
    // The network of this machine may have authorities of its own.
    cpSync('/etc/ssl/certs/ca-certificates.crt', join(root, AUTHORITIES), { dereference: true })
    const env = {
      PATH,
      HOME: '/root',
      npm_config_registry: registry,
      NODE_EXTRA_CA_CERTS: AUTHORITIES,
    }
    execFileSync('chroot', [root, 'sh', '-c', `cd ${folder} && ${text}`], { env, stdio: 'inherit' })
  }
  if (name === 'COPY') {
    const words = text.split(' ')
    const [, stage = null] = /^--from=(\w+)$/.exec(words[0] ?? '') ?? []
    const paths = stage === null ? words : words.slice(1)
    const target = join(root, folder, paths.pop() ?? '')
    for (const path of paths) {
      if (stage === null && !sent.includes(path))
        throw new Error(`Dockerfile.dockerignore leaves out ${path}`)
      const source = stage === null ? path : join(roots.get(stage) ?? '', path)
      // A folder is copied as its content, a file into a folder that ends with a slash.
      const isInto = /\/$|\/\.$/.test(text)
      cpSync(source, isInto ? join(target, basename(path)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      })
    }
  }
  return folder
}

async function tryImage(root: string, image: Stage): Promise<void> {
  const volumes = ['data', 'backups', 'older']
  for (const name of volumes)
    execFileSync('install', [
      '-d',
      '-m',
      '700',
      '-o',
      '1000',
      '-g',
      '1000',
      join(work, 'volumes', name),
    ])
  const first = await start(root, image)
  try {
    requireEqual(
      first.errors().match(/shown this once: wk_/g)?.length,
      1,
      'the first start prints a key',
    )
    const status = readFileSync(`/proc/${first.pid}/status`, 'utf8')
    requireEqual(
      /^Uid:\s+(\d+)/m.exec(status)?.[1],
      String(USER_ID),
      'the process has the user of the image',
    )
    requireEqual(/^CapEff:\s+(\w+)/m.exec(status)?.[1], '0'.repeat(16), 'it has no capabilities')
    requireEqual(
      first.execute(['sh', '-c', 'touch /weft/x || echo refused']),
      'refused\n',
      'the root is read-only',
    )
    first.execute(readCommand(image, 'HEALTHCHECK'))
    report('the health check succeeds')
    const key = first.execute(['node', 'src/weft.cjs', 'keys', 'create', '--user', 'me'])
    requireEqual(/secret {2}wk_/.test(key), true, 'keys are created in the container')
    first.execute(['node', 'src/weft.cjs', 'backup', '--to', '/backups/first'])
    requireEqual(
      existsSync(join(work, 'volumes/backups/first/weft.db')),
      true,
      'a backup is written to its volume',
    )
  } finally {
    await first.stop()
  }
  const second = await start(root, image)
  try {
    requireEqual(
      second.execute(['node', 'src/weft.cjs', 'keys', 'list']).trim().split('\n').length,
      2,
      'another container has the data of the volume',
    )
    requireEqual(second.errors(), '', 'it prints no further key')
  } finally {
    await second.stop()
  }
  await tryUpgrade(root, image)
}

/** Starts the image on a volume that an older release has left. */
async function tryUpgrade(root: string, image: Stage): Promise<void> {
  const volume = join(work, 'volumes/older')
  await fillOlderDirectory(volume)
  execFileSync('chown', ['-R', `${USER_ID}:${USER_ID}`, volume])
  const upgraded = await start(root, image, 'older')
  try {
    const made = upgraded.execute(['node', 'src/weft.cjs', 'keys', 'create', '--user', 'me'])
    const [key = ''] = /wk_\S+/.exec(made) ?? []
    await requireSameReads(async (path, body) => {
      const response = await fetch(upgraded.url + path, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa(`api:${key}`)}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      })
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    })
    report('the data of release 0.1.0 reads as before')
  } finally {
    await upgraded.stop()
  }
}

/** Starts the image in namespaces of its own, with its process as the first one. */
async function start(root: string, image: Stage, data = 'data') {
  const volume = (name: string, source = name) =>
    `mkdir -p ${root}/${name} && mount --bind ${work}/volumes/${source} ${root}/${name}`
  const drop = `setpriv --reuid=${USER_ID} --regid=${USER_ID} --clear-groups --no-new-privs --bounding-set=-all`
  const environment = { PATH, ...readEnvironment(image), WEFT_PORT: '0' }
  const settings = Object.entries(environment).map(([key, value]) => `${key}=${value}`)
  const command = [...settings, ...readCommand(image, 'CMD')].map((word) => `'${word}'`).join(' ')
  const script = `set -e
    mount --make-rprivate /
    mkdir -p ${root}/backups ${root}/proc ${root}/dev
    mount --bind ${root} ${root}
    mount -t proc proc ${root}/proc
    mount --rbind /dev ${root}/dev
    ${volume('data', data)}
    ${volume('backups')}
    mount -t tmpfs tmpfs ${root}/tmp
    mount -o remount,ro,bind ${root}
    exec chroot ${root} ${drop} sh -c "cd /weft && exec env -i ${command}"`
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const url = await findAddress(child, () => errors)
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
  const port = new URL(url).port
  return {
    pid,
    url,
    errors: () => errors,
    execute(args: readonly string[]): string {
      const into = ['-t', String(pid), '--mount', '--pid', '--root', '--wd', ...drop.split(' ')]
      const env = { ...environment, WEFT_PORT: port }
      return execFileSync('nsenter', [...into, ...args], {
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    },
    async stop() {
      const begun = performance.now()
      process.kill(pid, 'SIGTERM')
      const [code] = (await once(child, 'exit')) as [number | null]
      const ms = Math.round(performance.now() - begun)
      requireEqual([code, ms < STOP_MS_MAX], [0, true], `it ends on SIGTERM, after ${ms} ms`)
    },
  }
}

function findAddress(child: ChildProcess, readErrors: () => string): Promise<string> {
  return new Promise((found, failed) => {
    if (child.stdout === null) throw new Error('the output is not read')
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [url] = /(?<=listening at )http:\/\/[^"]+/.exec(line) ?? []
      // The first key is printed right after.
      if (url !== undefined) setTimeout(() => found(url), 500)
    })
    child.once('exit', () => failed(new Error(`the image does not start: ${readErrors()}`)))
  })
}

function requireEqual(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`not so: ${what} (${JSON.stringify(found)})`)
  report(what)
}

function report(line: string): void {
  process.stdout.write(`image: ${line}\n`)
}
