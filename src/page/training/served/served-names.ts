/** The names by which a project serves models: what each serves, a share for a candidate, and both side by side. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { may } from '../../api/session.ts'
import { formatTime } from '../../parts/format.ts'
import { type Act, notTwice, useAction } from '../../parts/hooks/use-action.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { Failure, Pending } from '../../parts/notice.ts'
import { query } from '../../shell/location.ts'
import { pathTo } from '../../shell/page-route.ts'
import { readModels } from '../training-api.ts'
import { type Alias, deleteAlias, readAliases, rollBack, setAlias } from './alias-api.ts'
import { AliasForm } from './alias-form.ts'
import { ArmTable } from './arm-table.ts'

export function ServedNames({ project }: { readonly project: string }) {
  const [turn, setTurn] = useState(0)
  const reload = () => setTurn((last) => last + 1)
  const loaded = useLoad(
    project,
    async (signal) => {
      const [aliases, models] = await Promise.all([
        readAliases(project, signal),
        readModels(project, [], signal),
      ])
      return { aliases, models }
    },
    turn,
  )
  const { act, done, failure } = useAction(reload)
  if (loaded.value === null) return html`<${Pending} title="Served names" loaded=${loaded} />`
  const { aliases, models } = loaded.value
  const model = query.value.get('model') ?? ''
  return html`<div class="bar"><h1>Served names</h1><span class="push"></span><a href=${pathTo(project, 'training')}>Training</a></div>
    <p class="faint">A request that gives a name as its model is answered by the model that the name serves. A user who gets the candidate keeps it while the share is the same or larger.</p>
    <${Failure} words=${failure ?? loaded.failure} />
    <p role="status">${done}</p>
    ${aliases.map((alias) => html`<${AliasSection} key=${alias.name} alias=${alias} model=${model} act=${act} />`)}
    ${may('inference') && html`<h2>New name</h2><${AliasForm} project=${project} models=${models} model=${model} onSaved=${reload} />`}`
}

interface AliasSectionProps {
  readonly alias: Alias
  /** A model that the address names, which each name is offered; '': none. */
  readonly model: string
  readonly act: Act
}

function AliasSection({ alias, model, act }: AliasSectionProps) {
  const { name, target, candidate, earlier, updated_at } = alias
  return html`<section aria-label=${name}>
    <h2>${name}</h2>
    <p>Serves <b>${target}</b>${candidate !== null && html`, and <b>${candidate.model}</b> to ${candidate.percent} % of the users`}. <span class="faint">Set ${formatTime(updated_at, false)}.</span></p>
    <div class="bar">
      ${may('inference') && html`<${Changes} alias=${alias} model=${model} act=${act} />`}
      ${
        earlier[0] &&
        html`<button onClick=${notTwice(() =>
          act(async () => {
            const { target: served } = await rollBack(alias)
            return `${name} serves ${served} again.`
          }),
        )}>Go back to ${earlier[0]}</button>`
      }
      <button class="danger" onClick=${() =>
        confirm(`Delete the name ${name}? Requests for it will fail.`) &&
        act(async () => {
          await deleteAlias(alias)
          return `${name} is deleted.`
        })}>Delete</button>
    </div>
    ${may('traces:read') && html`<${ArmTable} key=${updated_at} alias=${alias} />`}
  </section>`
}

/** Buttons that change what a name serves. */
function Changes({ alias, model, act }: AliasSectionProps) {
  const { name, target, candidate } = alias
  const [percent, setPercent] = useState(String(candidate?.percent ?? 10))
  const tried = candidate?.model ?? model
  const change = (to: Pick<Alias, 'target' | 'candidate'>, words: string) =>
    notTwice(() =>
      act(async () => {
        await setAlias({ ...alias, ...to })
        return words
      }),
    )
  const share = { model: tried, percent: Number(percent) }
  return html`${
    model !== '' &&
    model !== target &&
    model !== candidate?.model &&
    html`<button class="main" onClick=${change({ target: model, candidate: null }, `${name} serves ${model}.`)}>Serve ${model} to all</button>`
  }
    ${
      candidate !== null &&
      html`<button class="main" onClick=${change({ target: candidate.model, candidate: null }, `${name} serves ${candidate.model}.`)}>Serve ${candidate.model} to all</button>
        <button onClick=${change({ target, candidate: null }, `${name} serves ${target} alone.`)}>End the share</button>`
    }
    ${
      tried !== '' &&
      tried !== target &&
      html`<label class="inline">Share in %<input class="short" type="number" min="0" max="100" step="any" value=${percent} onInput=${(event: InputEvent) => setPercent((event.target as HTMLInputElement).value)} /></label>
        <button onClick=${change({ target, candidate: share }, `${tried} gets ${percent} % of ${name}.`)}>Give ${tried} this share</button>`
    }`
}
