import { readFileSync } from 'node:fs'

/** Peak memory of a process in MiB; unknown if the system does not report it. */
export function peakMemory(pid: number | undefined): number | string {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Math.round(Number(kilobytes) / 1024)
  } catch {
    return '-'
  }
}
