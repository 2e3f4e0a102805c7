/** The zone of all times in the address, so that a shared link shows the times that its sender sees. */
import { query, setQuery } from './location.ts'
import { keepTimeMode, type TimeMode, timeMode } from './settings.ts'

const NAME = 'zone'

const linked = query.value.get(NAME)
// That of a link counts before that of this browser, which stays as it is.
if (linked === 'UTC' || linked === 'local') timeMode.value = linked

export function chooseTimeMode(mode: TimeMode): void {
  keepTimeMode(mode)
  setQuery({ [NAME]: mode })
}
