/** Serves a model by a name of the project with one click, and goes back with another. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../../api/session.ts'
import { useAction } from '../../parts/hooks/use-action.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { Failure } from '../../parts/notice.ts'
import { pathTo } from '../../shell/page-route.ts'
import { type Alias, readAliases, rollBack, setAlias } from './alias-api.ts'

/** Names that have a button; the others are on the page of names. */
const SHOWN = 3

interface ServeButtonsProps {
  readonly project: string
  /** Name of the model, as `owl:step3`. */
  readonly model: string
}

export function ServeButtons({ project, model }: ServeButtonsProps) {
  const [turn, setTurn] = useState(0)
  const loaded = useLoad(project, (signal) => readAliases(project, signal), turn)
  const { act, failure } = useAction(() => setTurn(turn + 1))
  if (!may('inference')) return null
  const serve = (alias: Alias) =>
    act(async () => {
      await setAlias({ ...alias, target: model, candidate: null })
      return null
    })
  const goBack = (alias: Alias) =>
    act(async () => {
      await rollBack(alias)
      return null
    })
  const aliases = loaded.value ?? []
  const others = `${pathTo(project, 'training', 'served')}?${new URLSearchParams({ model })}`
  return html`<span class="bar">
    ${aliases.slice(0, SHOWN).map((alias) =>
      alias.target === model
        ? html`<span key=${alias.name} class="status success">served by ${alias.name}</span>
            ${alias.earlier[0] && html`<button key=${`back ${alias.name}`} onClick=${() => goBack(alias)}>back to ${alias.earlier[0]}</button>`}`
        : html`<button key=${alias.name} onClick=${() => serve(alias)}>serve by ${alias.name}</button>`,
    )}
    <a href=${others}>${aliases.length === 0 ? 'serve by a name …' : 'more …'}</a>
    <${Failure} words=${failure ?? loaded.failure} />
  </span>`
}
