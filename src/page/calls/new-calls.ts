/** Announces calls that were recorded after the list was read; the list itself does not move. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import type { CallsQueryBody } from '../api/wire.ts'
import { formatCalls } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { icon } from '../parts/icon.ts'

/** Pause between two counts. */
const PAUSE_MS = 10_000
/** Limit: calls that are counted. */
const COUNT_MAX = 1000

interface NewCallsProps {
  /** The query of the list with another end; null while the list ends at a time of the address. */
  readonly questionUntil: (fromMs: number, untilMs: number) => CallsQueryBody
  /** End of the list. */
  readonly untilMs: number
  readonly onShow: () => void
}

export function NewCalls({ questionUntil, untilMs, onShow }: NewCallsProps) {
  const [turn, setTurn] = useState(0)
  const count = useLoad(
    `${untilMs}`,
    async (signal) => {
      // The list has just been read.
      if (turn === 0) return 0
      const body = { ...questionUntil(untilMs, serverNow()), limit: COUNT_MAX }
      return (await requestJson<{ count: number }>('/calls/query_stats', body, { signal })).count
    },
    turn,
  )
  usePause(count.isLoading ? null : PAUSE_MS, () => setTurn((last) => last + 1))
  const found = count.value ?? 0
  return html`<span role="status">${
    found > 0 &&
    html`<button class="news" onClick=${onShow}>${icon('arrow-up')} ${formatCalls(found, found === COUNT_MAX ? ' and more' : '').replace(' call', ' new call')} · show</button>`
  }</span>`
}
