/**
 * Preloaded by the scripts of package.json: ends with one line when Node is too old. Plain JavaScript, because such a Node
 * cannot read TypeScript and would end with a stack.
 */
const { engines } = require('../package.json')

function partsOf(version) {
  const [major, minor] = version.match(/\d+/g).map(Number)
  return { major, minor }
}

const { node: given } = process.versions
const [own, least] = [partsOf(given), partsOf(engines.node)]
if (own.major < least.major || (own.major === least.major && own.minor < least.minor)) {
  process.stderr.write(`weft: this is Node ${given}; Node ${engines.node} is needed\n`)
  process.exit(1)
}
