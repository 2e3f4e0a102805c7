/** The views, each loaded when it is first opened, so that the first paint waits for only one of them. */
import type { FunctionComponent } from 'preact'
import type { View, ViewProps } from './page-route.ts'

type ViewComponent = FunctionComponent<ViewProps>

const LOADERS: Readonly<Record<View, () => Promise<ViewComponent>>> = {
  home: async () => (await import('../home/home.ts')).Home,
  calls: async () => (await import('../calls/calls.ts')).Calls,
  trace: async () => (await import('../trace/trace.ts')).Trace,
  threads: async () => (await import('../threads/threads.ts')).Threads,
  thread: async () => (await import('../threads/conversation.ts')).Conversation,
  users: async () => (await import('../users/users.ts')).Users,
  user: async () => (await import('../users/user.ts')).UserView,
  feedback: async () => (await import('../feedback/feedback.ts')).Feedback,
  queues: async () => (await import('../queues/queues.ts')).Queues,
  queue: async () => (await import('../queues/rate.ts')).Rate,
  evaluations: async () => (await import('../evaluations/evaluations.ts')).Evaluations,
  evaluation: async () => (await import('../evaluations/run.ts')).RunView,
  compare: async () => (await import('../evaluations/compare.ts')).Compare,
  'new-evaluation': async () =>
    (await import('../evaluations/begin/new-evaluation.ts')).NewEvaluation,
  leaderboard: async () => (await import('../evaluations/leaderboard.ts')).Leaderboard,
  evaluators: async () => (await import('../evaluators/evaluators.ts')).Evaluators,
  objects: async () => (await import('../objects/objects.ts')).Objects,
  object: async () => (await import('../objects/object.ts')).ObjectView,
  playground: async () => (await import('../playground/playground.ts')).Playground,
  training: async () => (await import('../training/training.ts')).Training,
  alerts: async () => (await import('../alerts/alerts.ts')).Alerts,
  settings: async () => (await import('../project/project-settings.ts')).ProjectSettings,
  server: async () => (await import('../server/server-view.ts')).ServerView,
  projects: async () => (await import('../frame/projects.ts')).Projects,
  unknown: async () => (await import('../shell/unknown.ts')).Unknown,
}

const known = new Map<View, ViewComponent>()

/** A view that is already loaded; undefined for others. */
export function knownView(view: View): ViewComponent | undefined {
  return known.get(view)
}

export async function loadView(view: View): Promise<ViewComponent> {
  const component = await LOADERS[view]().catch((cause: unknown) => {
    throw new Error('This view cannot be loaded: the server does not answer, or was updated.', {
      cause,
    })
  })
  known.set(view, component)
  return component
}
