/** The end users of a project: what each did in a time range, sorted and searched by the server. */
import { html } from 'htm/preact'
import { useEffect, useState } from 'preact/hooks'
import {
  type CallGroup,
  type CallGroups,
  GROUP_SORTS,
  type GroupSort,
  readCallGroups,
} from '../api/call-groups.ts'
import { serverNow } from '../api/clock.ts'
import { rangeName, readRange } from '../parts/charts/range.ts'
import { formatCost, formatCount, formatShort } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { SortHeading } from '../parts/tables/sort-heading.ts'
import { RelativeTime } from '../parts/time/relative-time.ts'
import { TimePicker } from '../parts/time/time-picker.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'

/** Users shown at first, and added by each click on "more". */
const STEP = 100
/** Limit: users that are listed; others are found by the search. */
const USERS_MAX = 1000
/** Pause after a key press before the search is sent. */
const TYPING_MS = 300

const COLUMNS: Readonly<Record<Exclude<GroupSort, 'name'>, string>> = {
  calls: 'Calls',
  errors: 'Errors',
  tokens: 'Tokens',
  cost: 'Cost',
  first: 'First call',
  last: 'Last call',
}

function chosenSort(): GroupSort {
  const name = query.value.get('by') ?? ''
  return Object.hasOwn(GROUP_SORTS, name) ? (name as GroupSort) : 'calls'
}

function chosenDirection(): 'asc' | 'desc' {
  return query.value.get('order') === 'asc' ? 'asc' : 'desc'
}

/** Sorts by a column; by the same one in the other direction. */
function chooseSort(by: GroupSort): void {
  const isOther = by !== chosenSort()
  const isAscending = isOther ? by === 'name' : chosenDirection() === 'desc'
  setQuery({ by, order: isAscending ? 'asc' : null })
}

export function Users({ project }: ViewProps) {
  const [sort, direction] = [chosenSort(), chosenDirection()]
  const search = query.value.get('user') ?? ''
  const name = `${project} ${rangeName.value} ${search}`
  const [shown, setShown] = useState({ name, limit: STEP })
  const limit = shown.name === name ? shown.limit : STEP
  const users = useLoad(
    name,
    (signal) => {
      const { fromMs, toMs } = readRange(serverNow())
      const grouping = {
        field: 'end_user_id',
        sort,
        direction,
        limit,
        search,
        times: true,
      } as const
      return readCallGroups({ project, fromMs, toMs }, grouping, signal)
    },
    `${sort} ${direction} ${limit}`,
  )
  const { value } = users
  return html`<h1>Users</h1>
    <div class="bar">
      <${Search} key=${project} search=${search} />
      <${TimePicker} isLoading=${users.isLoading} />
    </div>
    <${Failure} words=${users.failure} />
    ${value === null && users.isLoading && html`<${Loading} />`}
    ${value !== null && html`<div class=${users.isOther ? 'stale' : ''}><${Found} project=${project} search=${search} found=${value} sort=${sort} direction=${direction} /></div>`}
    ${
      value?.others &&
      limit < USERS_MAX &&
      html`<button onClick=${() => setShown({ name, limit: Math.min(limit + STEP, USERS_MAX) })}>More users</button>`
    }`
}

/** The text is applied a moment after it was typed. */
function Search({ search }: { readonly search: string }) {
  const [text, setText] = useState(search)
  // The back button changes the search, too.
  useEffect(() => setText(search), [search])
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text !== search) setQuery({ user: text === '' ? null : text })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return html`<input type="search" aria-label="Search users" placeholder="Search users" maxlength="256" value=${text} onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)} />`
}

interface FoundProps {
  readonly project: string
  readonly search: string
  readonly found: CallGroups
  readonly sort: GroupSort
  readonly direction: 'asc' | 'desc'
}

function Found({ project, search, found: { rows, others }, sort, direction }: FoundProps) {
  if (search === '' && rows.every((row) => row.name === null)) return html`<${NoUser} />`
  if (rows.length === 0)
    return html`<p class="notice">No user of this time has “${search}” in the name.</p>`
  const heading = (by: GroupSort, label: string) =>
    html`<${SortHeading} key=${by} label=${label} isNumber=${by !== 'name' && by !== 'first' && by !== 'last'} direction=${by === sort ? direction : null} onSort=${() => chooseSort(by)} />`
  return html`<section class="card flush"><div class="scroll" tabindex="0"><table class="list whole" aria-label="Users">
    <thead><tr>${heading('name', 'User')}${Object.entries(COLUMNS).map(([by, label]) => heading(by as GroupSort, label))}</tr></thead>
    <tbody>${rows.map((row) => html`<${UserRow} key=${row.name} project=${project} row=${row} />`)}
      ${others !== null && html`<tr class="faint"><th scope="row">${formatCount(others.groups)} others</th><${Sums} sums=${others} /><td></td><td></td></tr>`}
    </tbody>
  </table></div></section>`
}

interface UserRowProps {
  readonly project: string
  readonly row: CallGroup
}

function UserRow({ project, row }: UserRowProps) {
  const { name, firstAt, lastAt } = row
  return html`<tr>
    <th scope="row" class="user-name">${name === null ? html`<span class="faint">calls without a user</span>` : html`<a href=${hrefOf(project, name)} title=${name}>${name}</a>`}</th>
    <${Sums} sums=${row} />
    <td>${firstAt !== null && html`<${RelativeTime} at=${firstAt} />`}</td>
    <td>${lastAt !== null && html`<${RelativeTime} at=${lastAt} />`}</td>
  </tr>`
}

/** The page of a user, over the same time. */
function hrefOf(project: string, name: string): string {
  const range = ['from', 'to', 'range'].flatMap((key) => {
    const value = query.value.get(key)
    return value === null ? [] : [[key, value]]
  })
  const path = pathTo(project, 'users', name)
  return range.length === 0 ? path : `${path}?${new URLSearchParams(range)}`
}

function Sums({
  sums,
}: {
  readonly sums: Pick<CallGroup, 'calls' | 'errors' | 'tokens' | 'cost'>
}) {
  return html`<td class="number">${formatCount(sums.calls)}</td>
    <td class=${`number ${sums.errors > 0 ? 'bad' : ''}`}>${formatCount(sums.errors)}</td>
    <td class="number">${formatShort(sums.tokens)}</td>
    <td class="number">${sums.cost === null ? '–' : formatCost(sums.cost)}</td>`
}

function NoUser() {
  return html`<section class="first">
    <h2>No users in this time</h2>
    <p>A call belongs to the end user that it names: the attribute <code>user.id</code> of a span, <code>user</code> or
      <code>safety_identifier</code> of a completion, or with the Weave SDK an attribute, which nested calls inherit:</p>
    <pre tabindex="0">${'with weave.attributes({"user": "hana"}):\n    answer("Why?")'}</pre>
  </section>`
}
