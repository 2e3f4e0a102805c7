/** The search in the address, together with the text that is still being typed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { search, setSearch } from '../filters.ts'
import { afterPress } from './press.ts'
import { type Condition, parseSearch, printCondition, printSearch } from './search-text.ts'

/** Pause after a key press before the text is applied. */
const TYPING_MS = 300

/** Conditions that are in the address, and the text that is still being typed. */
export interface SearchDraft {
  readonly chips: readonly Condition[]
  readonly text: string
  /** Sentences about parts of the text that were not understood, once it is entered. */
  readonly problems: readonly string[]
  type(text: string): void
  /** Filters by the text without the pause. */
  apply(): void
  /** Turns the text into chips, if all of it is understood. */
  enter(): void
  remove(condition: Condition): void
  clear(): void
  /** Returns a chip to the field. */
  edit(condition: Condition): void
}

/** The typed text is part of the address before it is entered, as one step of the history. */
export function useSearchDraft(): SearchDraft {
  const inAddress = printSearch(search.value.conditions)
  const applied = useRef({ address: inAddress, chips: search.value.conditions, isBegun: false })
  const [text, setText] = useState('')
  const [problems, setProblems] = useState<readonly string[]>([])
  // A change from elsewhere, as by the back button, ends the draft.
  const isOther = applied.current.address !== inAddress
  if (isOther)
    applied.current = { address: inAddress, chips: search.value.conditions, isBegun: false }
  const chips = applied.current.chips
  useEffect(() => {
    if (!isOther) return
    setText('')
    setProblems([])
  }, [inAddress])
  const write = (next: readonly Condition[], isStep: boolean) => {
    applied.current.address = printSearch(next)
    setSearch(next, isStep)
  }
  const settle = (next: readonly Condition[], left: string) => {
    const isStep = !applied.current.isBegun
    applied.current = { address: '', chips: next, isBegun: false }
    setText(left)
    setProblems([])
    write(next, isStep)
  }
  const apply = () => {
    const parsed = parseSearch(text)
    const next = [...chips, ...parsed.conditions]
    if (parsed.problems.length > 0 || printSearch(next) === applied.current.address) return
    const isStep = !applied.current.isBegun
    applied.current.isBegun = true
    write(next, isStep)
  }
  // The address may change before the pause ends.
  const latest = useRef(apply)
  latest.current = apply
  useEffect(() => {
    const timer = setTimeout(() => afterPress(() => latest.current()), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  const without = (condition: Condition) => chips.filter((other) => other !== condition)
  return {
    chips,
    text,
    problems: problems.length > 0 ? problems : search.value.problems,
    type: (next) => {
      setText(next)
      setProblems([])
    },
    enter() {
      const parsed = parseSearch(text)
      if (parsed.problems.length > 0) return setProblems(parsed.problems)
      settle([...chips, ...parsed.conditions], '')
    },
    apply: () => afterPress(() => latest.current()),
    clear: () => settle([], text),
    remove: (condition) => settle(without(condition), text),
    edit: (condition) => settle(without(condition), `${printCondition(condition)} ${text}`.trim()),
  }
}
