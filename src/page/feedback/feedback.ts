/** The feedback of a project: the paths in its payloads, how their values are distributed and change, and the newest feedback. */
import { html } from 'htm/preact'
import { serverNow } from '../api/clock.ts'
import type { PayloadPath } from '../api/wire.ts'
import { rangeName, readRange } from '../parts/charts/range.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { TimePicker } from '../parts/time/time-picker.ts'
import { query, setQuery } from '../shell/location.ts'
import type { ViewProps } from '../shell/page-route.ts'
import { NewestFeedback } from './newest.ts'
import { type FeedbackWindow, readNewest } from './newest-rows.ts'
import { readPaths } from './payload-paths.ts'
import { ScoreView } from './score-view.ts'

function windowOf(project_id: string): FeedbackWindow {
  const { fromMs, toMs } = readRange(serverNow())
  const [start, end] = [fromMs, toMs].map((ms) => new Date(ms).toISOString()) as [string, string]
  return { project_id, start, end, feedback_type: query.value.get('type') }
}

export function Feedback({ project }: ViewProps) {
  const type = query.value.get('type')
  const path = query.value.get('path')
  const name = `${rangeName.value} ${type}`
  const paths = useLoad(name, async (signal) => {
    const asked = windowOf(project)
    const rows = await readNewest(asked, signal)
    return { asked, rows, paths: await readPaths(asked, rows, signal) }
  })
  return html`<h1>Feedback</h1>
    <div class="bar">
      <${TimePicker} isLoading=${paths.isLoading} />
      ${
        type !== null &&
        html`<span>only <b>${type}</b></span>
          <button class="quiet" onClick=${() => setQuery({ type: null }, { isStep: true })}>any type</button>`
      }
    </div>
    <${Failure} words=${paths.failure} />
    ${paths.value === null && paths.isLoading && html`<${Loading} />`}
    <div class=${paths.isOther ? 'stale' : ''} aria-busy=${paths.isOther}>
    ${paths.value !== null && html`<${Paths} paths=${paths.value.paths} chosen=${path} isOfType=${type !== null} />`}
    ${
      paths.value !== null &&
      path !== null &&
      html`<${ScoreView} key=${path} project=${project} asked=${paths.value.asked} path=${path} type=${typeAt(paths.value.paths, path)} />`
    }
    ${paths.value !== null && html`<${NewestFeedback} project=${project} rows=${paths.value.rows} />`}
    </div>`
}

/** Of a path that is not in the time: a number, as most scores are. */
function typeAt(paths: readonly PayloadPath[], path: string): PayloadPath['value_type'] {
  return paths.find(({ json_path }) => json_path === path)?.value_type ?? 'numeric'
}

interface PathsProps {
  readonly paths: readonly PayloadPath[]
  readonly chosen: string | null
  /** Whether feedback of other types is left out. */
  readonly isOfType: boolean
}

function Paths({ paths, chosen, isOfType }: PathsProps) {
  if (paths.length === 0 && isOfType)
    return html`<p class="notice">No feedback of this type in this time.</p>`
  if (paths.length === 0)
    return html`<p class="notice">No feedback in this time. Give it on a trace, in a queue, or with an SDK:${' '}
      <code>call.feedback.add("rating", {"value": 4})</code>.</p>`
  const choose = (path: string) =>
    setQuery({ path: path === chosen ? null : path }, { isStep: true })
  return html`<h2>Fields of payloads</h2>
    <div class="scroll" tabindex="0"><table class="list">
      <thead><tr><th scope="col">Path</th><th scope="col">Type</th><th scope="col">Values</th></tr></thead>
      <tbody>${paths.map(
        ({ json_path, value_type }) => html`<tr key=${`${json_path} ${value_type}`}>
          <td class="wrap"><code>${json_path}</code></td>
          <td>${value_type}</td>
          <td><button aria-pressed=${json_path === chosen} onClick=${() => choose(json_path)}>show</button></td>
        </tr>`,
      )}</tbody>
    </table></div>`
}
