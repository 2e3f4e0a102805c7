/**
 * Several processes of the same model behind one link. A few requests share the first process; when there are more,
 * another process is started and takes its share once it is ready.
 */
import type { EngineLink } from './engine-link.ts'
import type { EnginePlan } from './engine-work.ts'

/** Requests that one process computes before another is worth its memory. */
export const REQUESTS_OF_ONE_LINK = 4

interface Member {
  readonly link: EngineLink
  isReady: boolean
}

/**
 * @param start - starts a process
 * @param linksMax - 1 or more
 *
 * Spec: §4.3 priority.
 * Choice: what has a priority goes to the first process, where one order holds over all of them.
 */
export function createSharedLinks(start: () => EngineLink, linksMax: number): EngineLink {
  const first: Member = { link: start(), isReady: true }
  const members = [first]
  let isClosed = false

  function grow(): void {
    if (isClosed || members.length >= linksMax) return
    const member: Member = { link: start(), isReady: false }
    members.push(member)
    // A process that cannot be loaded is never used; the first one reports the reason.
    member.link.ready().then(
      () => {
        member.isReady = true
      },
      () => {},
    )
  }

  function choose(plan: EnginePlan): EngineLink {
    if (plan.priority !== 0 || first.link.runningCount() < REQUESTS_OF_ONE_LINK) return first.link
    if (members.every(({ isReady }) => isReady)) grow()
    return members
      .filter(({ isReady }) => isReady)
      .map(({ link }) => link)
      .reduce((best, link) => (link.runningCount() < best.runningCount() ? link : best))
  }

  return {
    ready: () => first.link.ready(),
    open: (plan, onEnd) => choose(plan).open(plan, onEnd),
    runningCount: () => members.reduce((sum, { link }) => sum + link.runningCount(), 0),
    async close() {
      isClosed = true
      await Promise.all(members.map(({ link }) => link.close()))
    },
  }
}
