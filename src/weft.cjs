#!/usr/bin/env node
/**
 * The command `weft`. Each of its commands is a module in this folder, TypeScript in a checkout and JavaScript in the
 * package. Plain JavaScript itself, because a Node that is too old is refused in one line, and cannot read TypeScript.
 */
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { homedir } = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { engines, version } = require('../package.json')

const IS_PACKAGE = existsSync(path.join(__dirname, 'server.js'))

/** Commands, each with its module. */
const COMMANDS = {
  start: { module: 'server', does: 'start the server; the default' },
  keys: { module: 'keys', does: 'create, list, rotate and revoke API keys' },
  backup: { module: 'backup', does: 'copy the data directory, also of a running server' },
  migrate: { module: 'migrate', does: 'apply the migrations without starting a server' },
  copy: { module: 'store-copy', does: 'copy the data directory to PostgreSQL or ClickHouse' },
  export: { module: 'export', does: 'write a project to files, as JSON lines or Parquet' },
  import: { module: 'import', does: 'read an exported project back, or the data of another tool' },
  demo: { module: 'demo/demo', does: 'start a server with a project to look around in' },
  doctor: { module: 'doctor', does: 'check what a start needs, and report what is wrong' },
}

const START_FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--expose-gc',
  '--max-semi-space-size=16',
  '--no-allocation-site-pretenuring',
]

/** Of a server, unless set. Without the compile cache it starts slower and takes some 20 MB more. */
const START_ENVIRONMENT = {
  NODE_COMPILE_CACHE: IS_PACKAGE
    ? findFolder('cache')
    : path.join(__dirname, '../node_modules/.cache/compiled'),
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '524288',
}

const USAGE = `usage: weft [COMMAND] [OPTION ...]

${Object.entries(COMMANDS)
  .map(([name, { does }]) => `  ${name.padEnd(8)} ${does}`)
  .join('\n')}

weft COMMAND --help prints the options of a command, weft --version the version.`

const START_USAGE = `usage: weft start

Starts the server. The first start prints an API key, and a link that signs in. Settings are environment variables:

  WEFT_HOST         address to listen on, 127.0.0.1
  WEFT_PORT         port to listen on, 8080
  WEFT_DATA_DIR     directory of all data, ${IS_PACKAGE ? findFolder('data') : './data'}
  WEFT_MODELS_FILE  models that are served, ./models.json

README.md lists the others.`

/**
 * Returns the folder of Weft for the user's data or caches: that of XDG, on macOS that of Apple, on Windows that of
 * LOCALAPPDATA.
 */
function findFolder(kind, platform = process.platform, env = process.env, readHome = homedir) {
  const isData = kind === 'data'
  const home = findHome(readHome)
  if (platform === 'win32') {
    const local = env.LOCALAPPDATA || path.win32.join(home, 'AppData', 'Local')
    return path.win32.join(local, 'weft', kind)
  }
  if (platform === 'darwin') {
    return path.join(home, 'Library', isData ? 'Application Support' : 'Caches', 'weft')
  }
  const given = env[isData ? 'XDG_DATA_HOME' : 'XDG_CACHE_HOME'] ?? ''
  // The specification of XDG has relative paths ignored.
  const base = given.startsWith('/') ? given : path.join(home, isData ? '.local/share' : '.cache')
  return path.join(base, 'weft')
}

/** Without a home, as of a user that the machine does not list, it is `/`, as runtimes of containers set it. */
function findHome(readHome) {
  try {
    return readHome() || '/'
  } catch {
    return '/'
  }
}

/** Whether a Node is as new as the engines of the package. */
function isSupported(given) {
  const [major, minor] = given.split('.').map(Number)
  const [majorMin, minorMin] = engines.node.match(/\d+/g).map(Number)
  return major > majorMin || (major === majorMin && minor >= minorMin)
}

function pathOf(module) {
  return path.join(__dirname, `${module}${IS_PACKAGE ? '.js' : '.ts'}`)
}

/** Flags of Node and settings of malloc apply from the start of a process: another one takes the place of this. */
function startServer() {
  const args = [...process.execArgv, ...START_FLAGS, pathOf('server')]
  const env = { ...START_ENVIRONMENT, ...process.env }
  if (process.platform !== 'win32')
    process.execve(process.execPath, [process.execPath, ...args], env)
  // Windows cannot replace a process. Ctrl-C reaches both.
  const child = spawn(process.execPath, args, { env, stdio: 'inherit' })
  process.on('SIGINT', () => undefined)
  child.on('exit', (code) => process.exit(code ?? 1))
}

function fail(message) {
  process.stderr.write(`weft: ${message}\n`)
  process.exitCode = 1
}

function run([name = 'start', ...args]) {
  const { node } = process.versions
  if (!isSupported(node)) return fail(`this is Node ${node}; Node ${engines.node} is needed`)
  if (name === '--help' || name === '-h') return process.stdout.write(`${USAGE}\n`)
  if (name === '--version' || name === '-v') return process.stdout.write(`${version}\n`)
  if (!Object.hasOwn(COMMANDS, name)) {
    const what = name.startsWith('-') ? 'option' : 'command'
    return fail(`there is no ${what} ${JSON.stringify(name)}\n${USAGE}`)
  }
  if (IS_PACKAGE) process.env.WEFT_DATA_DIR = process.env.WEFT_DATA_DIR || findFolder('data')
  if (name === 'start') {
    if (args.length === 0) return startServer()
    if (args.includes('--help') || args.includes('-h'))
      return process.stdout.write(`${START_USAGE}\n`)
    return fail(`start takes no arguments\n${START_USAGE}`)
  }
  process.argv = [process.execPath, pathOf(COMMANDS[name].module), ...args]
  return import(pathToFileURL(process.argv[1]))
}

module.exports = { COMMANDS, START_FLAGS, START_ENVIRONMENT, findFolder, isSupported }
if (require.main === module) void run(process.argv.slice(2))
