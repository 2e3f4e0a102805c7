/**
 * Grammars that are compiled, and clients' templates that are rendered, in threads of the model's process, since either
 * can loop. When a thread is terminated, its other answers continue in the next one.
 */
import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import type { Vocabulary } from '../model/model.ts'
import type { TokenMask } from '../sampling/vocabulary-limits.ts'
import type { TemplateVariables } from '../text/chat-template.ts'
import type { Grammar, GrammarEngine, GrammarFollower, Turn } from './grammar-engine.ts'
import { createThreadJobs, type ThreadGrammar, type ThreadJobs } from './thread-jobs.ts'

/** What the threads do. */
export interface ConstraintThreads extends GrammarEngine {
  /** @throws ApiError invalid_value for a template that cannot be rendered */
  render(template: string, variables: TemplateVariables, turn: Turn): Promise<string>
}

/** A grammar that is used, or was used lately. */
interface CachedGrammar extends ThreadGrammar {
  users: number
}

/** Limit: compiled grammars that are cached unused; a large one takes 25 MB. */
const UNUSED_MAX = 8
/** Limit: each takes 30 MB. */
const THREADS_MAX = 3
const NOBODY: Turn = { owner: '', priority: 0, signal: new AbortController().signal }

/** A thread and the requests that use it. */
interface Member {
  readonly thread: ConstraintThreads
  /** By key. */
  readonly users: Map<string, number>
  lastOwner: string
}

/**
 * The threads, each started when it is first needed.
 *
 * @param cpuMsMax - limit: processor time of one compilation, rendering or mask. Milliseconds
 *
 * Spec: §4.3 structured_outputs, chat_template.
 * Choice: a key uses one thread, and has it for itself while there are enough. In a thread jobs wait in the order of
 * their priority, then of the key that was served longest ago; those of a client that has left are not begun.
 */
export function createConstraintThreads(
  vocabulary: Vocabulary,
  cpuMsMax: number,
): ConstraintThreads {
  const members: Member[] = []

  function choose(owner: string): Member {
    const own = members.find(({ users }) => users.has(owner))
    const idle = members.filter(({ users }) => users.size === 0)
    const known = own ?? idle.find(({ lastOwner }) => lastOwner === owner) ?? idle[0]
    if (known !== undefined) return known
    const [least] = members.toSorted((a, b) => a.users.size - b.users.size)
    if (least !== undefined && members.length >= THREADS_MAX) return least
    const thread = createConstraintThread(vocabulary, cpuMsMax)
    const started: Member = { thread, users: new Map(), lastOwner: owner }
    members.push(started)
    return started
  }

  /** Takes the thread of a key. */
  function take({ owner }: Turn): { readonly thread: ConstraintThreads; leave(): void } {
    const member = choose(owner)
    const { thread, users } = member
    member.lastOwner = owner
    users.set(owner, (users.get(owner) ?? 0) + 1)
    const leave = (): void => {
      const left = (users.get(owner) ?? 1) - 1
      if (left === 0) users.delete(owner)
      else users.set(owner, left)
    }
    return { thread, leave }
  }

  return {
    async compile(constraint, turn = NOBODY) {
      const { thread, leave } = take(turn)
      try {
        const { follow, end } = await thread.compile(constraint, turn)
        return {
          follow,
          end() {
            end()
            leave()
          },
        }
      } catch (error) {
        leave()
        throw error
      }
    },
    async render(template, variables, turn) {
      const { thread, leave } = take(turn)
      return await thread.render(template, variables, turn).finally(leave)
    },
  }
}

function createConstraintThread(vocabulary: Vocabulary, cpuMsMax: number): ConstraintThreads {
  const jobs = createThreadJobs(vocabulary, cpuMsMax)
  /** By digest, the one that was used longest ago first. */
  const grammars = new Map<string, CachedGrammar>()
  let lastId = 0

  function release(grammar: CachedGrammar): void {
    grammar.users -= 1
    const unused = [...grammars].filter(([, { users }]) => users === 0)
    for (const [key, { id }] of unused.slice(0, -UNUSED_MAX)) {
      grammars.delete(key)
      jobs.post({ type: 'drop', grammar: id })
    }
  }

  return {
    async compile(constraint, turn = NOBODY): Promise<Grammar> {
      const key = createHash('sha256').update(serialize(constraint)).digest('base64')
      const grammar = grammars.get(key) ?? { id: ++lastId, constraint, loadedIn: 0, users: 0 }
      grammars.delete(key)
      grammars.set(key, grammar)
      grammar.users += 1
      try {
        await jobs.run({ grammar, turn, param: constraint.param, message: null })
        turn.signal.throwIfAborted()
      } catch (error) {
        release(grammar)
        throw error
      }
      return {
        follow: async () =>
          follow(jobs, { grammar, turn, id: ++lastId, endIds: vocabulary.endIds }),
        end: () => release(grammar),
      }
    },
    async render(template, variables, turn) {
      const message = () => ({ type: 'render', template, variables }) as const
      const reply = await jobs.run({ grammar: null, turn, param: 'chat_template', message })
      return reply?.type === 'text' ? reply.text : ''
    },
  }
}

interface Followed {
  readonly grammar: ThreadGrammar
  readonly turn: Turn
  readonly id: number
  readonly endIds: readonly number[]
}

/** One answer; the next thread is sent all of its ids. */
function follow(jobs: ThreadJobs, { grammar, turn, id, endIds }: Followed): GrammarFollower {
  const ids: number[] = []
  const ending = new AbortController()
  const signal = AbortSignal.any([turn.signal, ending.signal])
  let sent = { life: 0, count: 0 }
  let mask: TokenMask | null = null
  let failure: { readonly error: unknown } | null = null

  const message = () => {
    const life = jobs.life()
    const from = sent.life === life ? sent.count : 0
    sent = { life, count: ids.length }
    return { type: 'mask', grammar: grammar.id, follower: id, ids: ids.slice(from) } as const
  }
  async function request(): Promise<void> {
    try {
      const { param } = grammar.constraint
      const reply = await jobs.run({ grammar, turn: { ...turn, signal }, param, message })
      mask = reply?.type === 'mask' ? reply.mask : null
    } catch (error) {
      failure = { error }
    }
  }
  let ready = request()

  return {
    mask() {
      if (failure !== null) throw failure.error
      return mask
    },
    ready: () => ready,
    accept(token) {
      ids.push(token)
      mask = null
      // Nothing may follow the end of an answer.
      if (!endIds.includes(token)) ready = request()
    },
    isOver: () => endIds.includes(ids.at(-1) ?? -1),
    end() {
      ending.abort()
      void ready.then(() => jobs.post({ type: 'drop', follower: id }))
    },
  }
}
