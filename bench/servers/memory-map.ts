/** What a process of Linux holds in memory, by kind, from `/proc/PID/smaps`. */
import { readFileSync } from 'node:fs'

/** Resident, in MB. */
export interface MemoryKinds {
  readonly rss: number
  /** Of glibc's allocator: its first heap and the arenas of threads. What it maps by itself counts as `other`. */
  readonly malloc: number
  /** Heaps of V8, buffers, stacks. */
  readonly other: number
  /** The program, its libraries and other mapped files. */
  readonly files: number
  /** Number of arenas that glibc made for threads. */
  readonly arenas: number
}

interface Mapping {
  readonly begin: number
  readonly end: number
  readonly mode: string
  readonly name: string
  readonly rssKb: number
}

/** A thread's arena begins at a multiple of its maximum size and reserves the whole size. */
const ARENA_BYTES = 64 * 1024 * 1024
const HEAD = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ *(.*)$/

export function readMemory(pid: number): MemoryKinds {
  const mappings = readMappings(pid)
  const sumMb = (fits: (mapping: Mapping, next: Mapping | undefined) => boolean) =>
    mappings.reduce(
      (sum, mapping, at) => sum + (fits(mapping, mappings[at + 1]) ? mapping.rssKb : 0),
      0,
    ) / 1024
  const rss = sumMb(() => true)
  const malloc = sumMb((mapping, next) => mapping.name === '[heap]' || isArena(mapping, next))
  const files = sumMb(({ name }) => name.startsWith('/'))
  const arenas = mappings.filter((mapping, at) => isArena(mapping, mappings[at + 1])).length
  return { rss, malloc, files, arenas, other: rss - malloc - files }
}

function isArena({ begin, end, mode, name }: Mapping, next: Mapping | undefined): boolean {
  if (name !== '' || mode !== 'rw-p' || begin % ARENA_BYTES !== 0) return false
  if (end - begin === ARENA_BYTES) return true
  return next?.mode === '---p' && next.begin === end && next.end === begin + ARENA_BYTES
}

function readMappings(pid: number): Mapping[] {
  const mappings: Mapping[] = []
  let head: Omit<Mapping, 'rssKb'> | null = null
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const found = HEAD.exec(line)
    if (found) {
      const [, begin = '', end = '', mode = '', name = ''] = found
      head = { begin: Number.parseInt(begin, 16), end: Number.parseInt(end, 16), mode, name }
    } else if (head && line.startsWith('Rss:')) {
      mappings.push({ ...head, rssKb: Number.parseInt(line.slice(4), 10) })
      head = null
    }
  }
  return mappings
}
