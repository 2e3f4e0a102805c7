/** Buttons that serve a model by a name of the project, or roll the name back. */
import { html } from 'htm/preact'
import { type Act, notTwice } from '../../parts/hooks/use-action.ts'
import { pathTo } from '../../shell/page-route.ts'
import { type Alias, rollBack, setAlias } from './alias-api.ts'

/** Names that have a button; the others are on the page of names. */
const SHOWN = 3

interface ServeButtonsProps {
  readonly project: string
  /** Name of the model, as `owl:step3`. */
  readonly model: string
  /** All names of the project: a change of one concerns the buttons of each model. */
  readonly aliases: readonly Alias[]
  readonly act: Act
}

export function ServeButtons({ project, model, aliases, act }: ServeButtonsProps) {
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
  const others = `${pathTo(project, 'training', 'served')}?${new URLSearchParams({ model })}`
  return html`<span class="bar">
    ${aliases.slice(0, SHOWN).map((alias) =>
      alias.target === model
        ? html`<span key=${alias.name} class="status success">served by ${alias.name}</span>
            ${alias.earlier[0] && html`<button key=${`back ${alias.name}`} onClick=${notTwice(() => goBack(alias))}>back to ${alias.earlier[0]}</button>`}`
        : html`<button key=${alias.name} onClick=${notTwice(() => serve(alias))}>serve by ${alias.name}</button>`,
    )}
    <a href=${others}>${aliases.length === 0 ? 'serve by a name …' : 'more …'}</a>
  </span>`
}
