/** The models with their upstreams, latencies and failures. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { Backend } from '../../schemas/models/backend.ts'
import { request, requestJson } from '../api/client.ts'
import { formatCount, formatMs, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { Failure, Pending } from '../parts/notice.ts'

const PAUSE_MS = 5000

async function readBackends(signal: AbortSignal) {
  const [{ data }, ready] = await Promise.all([
    requestJson<{ data: Backend[] }>('/v1/backends', undefined, { signal }),
    request('/ready', undefined, { signal }).then(
      () => 'The server is ready.',
      (error: Error) => `The server is not ready: ${error.message}`,
    ),
  ])
  return { data, ready }
}

export function Backends() {
  const [turn, setTurn] = useState(0)
  const loaded = useLoad('models', readBackends, turn)
  usePause(loaded.isLoading ? null : PAUSE_MS, () => setTurn((last) => last + 1))
  if (loaded.value === null) return html`<${Pending} title="Models" loaded=${loaded} />`
  const { data, ready } = loaded.value
  return html`<div class="bar"><h1>Models</h1><span class="faint">${ready}</span></div>
    <${Failure} words=${loaded.failure} />
    <p class="faint">Latencies are of the last 500 answers of each model since the server began.</p>
    <div class="scroll" tabindex="0"><table class="list" aria-label="Models">
      <thead><tr>
        <th scope="col">Model</th><th scope="col">Engine</th><th scope="col">Offers</th>
        <th scope="col" class="number">Answers</th><th scope="col" class="number">Failures</th>
        <th scope="col" class="number">First token p50</th><th scope="col" class="number">p95</th>
        <th scope="col" class="number">Complete p50</th><th scope="col" class="number">p95</th>
        <th scope="col">Last answer</th><th scope="col">Last failure</th>
      </tr></thead>
      <tbody>${data.map((backend) => html`<${Row} key=${backend.id} backend=${backend} />`)}</tbody>
    </table></div>
    ${data.map(({ id, upstreams }) => upstreams.length > 0 && html`<${Upstreams} key=${id} id=${id} upstreams=${upstreams} />`)}`
}

function Row({ backend }: { readonly backend: Backend }) {
  const { id, aliases, engine, offers, answers, failures, last_answer_at, last_failure } = backend
  return html`<tr>
    <td>${id}${aliases.length > 0 && html` <span class="faint">also ${aliases.join(', ')}</span>`}</td>
    <td>${engine ?? 'trained here'}</td>
    <td class="faint wrap">${offers.join(', ')}</td>
    <td class="number">${formatCount(answers)}</td>
    <td class=${failures > 0 ? 'number status error' : 'number'}>${formatCount(failures)}</td>
    <td class="number">${formatMs(backend.first_ms_p50)}</td>
    <td class="number">${formatMs(backend.first_ms_p95)}</td>
    <td class="number">${formatMs(backend.total_ms_p50)}</td>
    <td class="number">${formatMs(backend.total_ms_p95)}</td>
    <td>${last_answer_at && formatTime(last_answer_at, false)}</td>
    <td>${last_failure && `${last_failure.code}, ${formatTime(last_failure.at, false)}`}</td>
  </tr>`
}

interface UpstreamsProps {
  readonly id: string
  readonly upstreams: Backend['upstreams']
}

function Upstreams({ id, upstreams }: UpstreamsProps) {
  return html`<h2>Upstreams of ${id}</h2>
    <div class="scroll" tabindex="0"><table class="list" aria-label=${`Upstreams of ${id}`}>
      <thead><tr>
        <th scope="col" class="number">No.</th><th scope="col">Address</th>
        <th scope="col" class="number">Requests in progress</th><th scope="col" class="number">Consecutive failures</th>
        <th scope="col" class="number">First event of streams</th><th scope="col" class="number">Whole responses</th>
        <th scope="col">State</th>
      </tr></thead>
      <tbody>${upstreams.map(
        ({
          number,
          address,
          requests,
          failures,
          rests_ms,
          first_event_ms,
          response_ms,
        }) => html`<tr key=${number}>
          <td class="number">${number}</td><td>${address}</td>
          <td class="number">${requests}</td><td class="number">${failures}</td>
          <td class="number">${formatMs(first_event_ms)}</td><td class="number">${formatMs(response_ms)}</td>
          <td>${rests_ms > 0 ? html`<span class="status error">paused for ${formatMs(rests_ms)}</span>` : 'active'}</td>
        </tr>`,
      )}</tbody>
    </table></div>`
}
