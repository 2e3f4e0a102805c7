/** Child process of bench/relay.ts: the load generator. Runs one job at a time and sends its result. */
import type { Socket } from 'node:net'
import { type LoadResult, openStreams, runLoad } from '../servers/load.ts'

/** Requests are sent as text, since all are ASCII. */
export type LoadJob =
  | {
      readonly kind: 'run'
      readonly port: number
      readonly connections: number
      readonly durationMs: number
      readonly request: string
      readonly ending: string
    }
  | {
      readonly kind: 'open'
      readonly port: number
      readonly request: string
      readonly count: number
    }
  | { readonly kind: 'close' }

let open: Socket[] = []

async function work(job: LoadJob): Promise<LoadResult | null> {
  if (job.kind === 'run') return runLoad({ ...job, request: Buffer.from(job.request) })
  if (job.kind === 'open') open = await openStreams(job.port, Buffer.from(job.request), job.count)
  else for (const socket of open.splice(0)) socket.destroy()
  return null
}

process.on('message', (job: LoadJob) => {
  work(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
