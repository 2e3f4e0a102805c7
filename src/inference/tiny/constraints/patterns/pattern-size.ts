/** Measures the size of a regular expression in the grammar engine, which expands repeated groups. Pure. */

/** Limit: places of a pattern whose repeated groups are written out; these take a second to compile. */
export const PATTERN_PLACES_MAX = 20_000

const PIECES =
  /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*(?:\]|\\?$)|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|\{\d*(?:,\d*)?\}\??|[*+?]\??|[\s\S]/gu
const COUNTS = /^\{(\d*)(,?)(\d*)\}/u

interface Size {
  /** Positions before expansion: a repeated character counts once. */
  readonly own: number
  /** Places inside a repeated group, where all of it is written out. */
  readonly full: number
}

const NOTHING: Size = { own: 0, full: 0 }
const ONE: Size = { own: 1, full: 1 }

/** The places of a pattern with its repeated groups written out; may be infinite. */
export function countPlaces(pattern: string): number {
  /** The groups that are open, each with what it holds so far; and the last piece of the innermost. */
  const open: Size[] = [NOTHING]
  let last: { readonly size: Size; readonly isGroup: boolean } = { size: NOTHING, isGroup: false }
  const settle = (): void => {
    open.push(add(open.pop() ?? NOTHING, last.size))
    last = { size: NOTHING, isGroup: false }
  }
  for (const piece of pattern.match(PIECES) ?? []) {
    const times = readTimes(piece)
    if (times !== null) {
      last = { ...last, size: repeat(last.size, last.isGroup, times) }
      continue
    }
    settle()
    if (piece.startsWith('(')) open.push(NOTHING)
    else if (piece === ')' && open.length > 1) last = { size: open.pop() ?? NOTHING, isGroup: true }
    else if (piece !== '|') last = { size: ONE, isGroup: false }
  }
  while (open.length > 1) {
    settle()
    last = { size: open.pop() ?? NOTHING, isGroup: true }
  }
  settle()
  return open[0]?.own ?? 0
}

function add(a: Size, b: Size): Size {
  return { own: a.own + b.own, full: a.full + b.full }
}

function repeat({ own, full }: Size, isGroup: boolean, times: number): Size {
  if (times <= 1) return { own, full }
  return isGroup ? { own: full * times, full: full * times } : { own, full: full * times }
}

/** How often a quantifier writes out what stands before it; null when the piece is none. */
function readTimes(piece: string): number | null {
  if (/^[*+?]/u.test(piece)) return 1
  const [found, low = '', comma, high = ''] = COUNTS.exec(piece) ?? []
  if (found === undefined || low + high === '') return null
  if (comma === '') return Number(low)
  return high === '' ? Number(low) + 1 : Number(high)
}
