/** Where a row of the interface stands in the OpenAPI document: an operation, and the path of a field in what it takes or gives. */

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into at every depth.
type Node = any

/** Finds the field of a row; undefined when the document does not have it. */
type Finder = (document: Node, field: string) => Node

const JSON_BODY = ['content', 'application/json', 'schema']

/** The node of a `$ref`, or the one itself. */
function resolve(document: Node, node: Node): Node {
  const path = typeof node?.$ref === 'string' ? node.$ref.slice(2).split('/') : null
  return path ? path.reduce((at: Node, key: string) => at?.[key], document) : node
}

/** The property of a schema, looked for in its alternatives and in the items of lists, too. */
function propertyOf(document: Node, schema: Node, name: string): Node {
  const node = resolve(document, schema)
  if (node === null || typeof node !== 'object') return undefined
  if (node.properties && Object.hasOwn(node.properties, name)) return node.properties[name]
  const inside = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? []), node.items]
  return inside
    .map((part) => propertyOf(document, part, name))
    .find((property) => property !== undefined)
}

function follow(document: Node, root: Node, path: readonly string[]): Node {
  return path.reduce((node, name) => propertyOf(document, node, name), root)
}

function operation(document: Node, name: string): Node {
  const [method = '', path = ''] = name.split(' ')
  return document.paths[path]?.[method.toLowerCase()]
}

function bodyOf(holder: Node): Node {
  return JSON_BODY.reduce((node, key) => node?.[key], holder)
}

/** A field that the operation takes, below `path`. */
function taken(name: string, ...path: readonly string[]): Finder {
  return (document, field) =>
    follow(document, bodyOf(operation(document, name)?.requestBody), [...path, field])
}

/** A field that the operation answers, below `path`. */
function given(name: string, ...path: readonly string[]): Finder {
  return (document, field) =>
    follow(document, bodyOf(operation(document, name)?.responses['200']), [...path, field])
}

function parameter(name: string): Finder {
  return (document, field) =>
    operation(document, name)?.parameters?.find((one: Node) => one.name === field)?.schema
}

/** Each field by a place of its own. */
function byName(places: Readonly<Record<string, (document: Node) => Node>>): Finder {
  return (document, field) => places[field]?.(document)
}

const CHAT = 'POST /v1/chat/completions'
const FEEDBACK = 'POST /feedback/create'
const STATS = 'POST /calls/stats'
const JOBS = 'POST /v1/preview/training-jobs'
const CHECKPOINTS = 'GET /v1/preview/models/{model_id}/checkpoints'

/** Whether the text of a field's rule says `words`. */
function saying(place: Finder, field: string, words: string) {
  return (document: Node) => {
    const found = place(document, field)
    return JSON.stringify(found ?? '').includes(words) ? found : undefined
  }
}

/** What both fields give, when the document has both. */
function both(place: Finder, first: string, second: string) {
  return (document: Node) => place(document, first) && place(document, second)
}

/** Sections of rows; of those that begin alike the longest counts. */
const PLACES: Readonly<Record<string, Finder>> = {
  '2.1': byName({
    'object ref': saying(taken(FEEDBACK), 'weave_ref', '(object/'),
    'op ref': saying(taken(FEEDBACK), 'runnable_ref', '(op/'),
    'call ref': saying(taken(FEEDBACK), 'call_ref', '(call/'),
    project_id: saying(taken(FEEDBACK), 'project_id', '<entity>/<project>'),
  }),
  '2.2': taken(FEEDBACK),
  '2.3': given(FEEDBACK),
  '2.4': given('POST /feedback/payload_schema', 'paths'),
  '2.5': given('POST /call/read', 'call'),
  '2.6': taken('POST /call/start', 'start'),
  '2.7': taken(STATS, 'filter'),
  '2.8': (document, field) =>
    taken(STATS, 'usage_metrics')(document, field) && taken(STATS, 'call_metrics')(document, field),
  '2.9': byName({
    'usage bucket': both(given(STATS, 'usage_buckets'), 'timestamp', 'model'),
    'call bucket': (document) => given(STATS, 'call_buckets')(document, 'timestamp'),
  }),
  '2.10': (document, name) => {
    const { items } = taken(CHAT)(document, 'messages')
    const variants: Node[] = items.anyOf ?? items.oneOf
    return variants.find(({ $ref }) => $ref === `#/components/schemas/${name}`)
  },
  '2.11': given('GET /v1/models', 'data'),
  '2.11 list': given('GET /v1/models'),
  '2.12': taken(JOBS),
  '2.12 trajectory': taken(JOBS, 'trajectory_groups', 'trajectories'),
  '2.12 experimental_config': taken(JOBS, 'experimental_config'),
  '2.13': given(CHECKPOINTS, 'data'),
  '4.2': taken('POST /feedback/payload_schema'),
  '4.3': taken(CHAT),
  '4.3 structured_outputs': taken(CHAT, 'structured_outputs'),
  '4.3 response': given(CHAT),
  '4.3 choice': given(CHAT, 'choices'),
  '4.3 message': given(CHAT, 'choices', 'message'),
  '4.3 usage': given(CHAT, 'usage'),
  '4.4': taken(STATS),
  '4.4 response': given(STATS),
  '4.5': (document, field) =>
    field === 'call'
      ? given('POST /call/read')(document, field)
      : taken('POST /call/read')(document, field),
  '4.6': (document, field) =>
    field === 'start'
      ? taken('POST /call/start')(document, field)
      : given('POST /call/start')(document, field),
  '4.7': byName({ 'models list': (document) => operation(document, 'GET /v1/models') }),
  '4.8': byName({ 'training job': (document) => operation(document, JOBS) }),
  '4.9': parameter(CHECKPOINTS),
  '4.9 response': given(CHECKPOINTS),
  '5': (document, field) => document.components.securitySchemes[field],
  '7': byName({
    1: saying(taken(CHAT), 'priority', 'unless the model is served with priority scheduling'),
    2: both(taken(CHAT), 'continue_final_message', 'add_generation_prompt'),
  }),
  '8': byName({
    'feedback payload schema sample_limit': saying(
      taken('POST /feedback/payload_schema'),
      'sample_limit',
      '5000',
    ),
    'calls stats': saying(taken(STATS), 'granularity', '10,000 buckets'),
    'checkpoints limit': saying(parameter(CHECKPOINTS), 'limit', '"maximum":100,"default":20'),
    'chat seed': saying(taken(CHAT), 'seed', '"minimum":-9223372036854776000'),
    'chat truncate_prompt_tokens': saying(taken(CHAT), 'truncate_prompt_tokens', '"minimum":-1'),
    'chat defaults': (document) =>
      Object.entries({ n: 1, min_tokens: 0, top_logprobs: 0, priority: 0 }).every(([name, value]) =>
        new RegExp(`\\bdefault ${value}\\.`, 'i').test(taken(CHAT)(document, name)?.description),
      ) || undefined,
  }),
  '9': byName({ 'trailing slash': (document) => operation(document, CHAT) }),
}

/**
 * The rows that the document does not have.
 *
 * @param rows - as `§2.2 weave_ref`
 */
export function rowsMissing(document: unknown, rows: readonly string[]): string[] {
  const sections = Object.keys(PLACES).sort((left, right) => right.length - left.length)
  return rows.filter((row) => {
    const section = sections.find((name) => row.startsWith(`§${name} `))
    if (section === undefined) return true
    return PLACES[section]?.(document, row.slice(section.length + 2)) === undefined
  })
}
