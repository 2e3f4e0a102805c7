import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLogOutput } from '../../src/http/log/log-output.ts'

describe('log output', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function open() {
    const written: string[] = []
    return { written, output: createLogOutput((text) => void written.push(text)) }
  }

  it('writes the lines of a moment together and in order', async () => {
    const { written, output } = open()
    output.write('1\n')
    output.write('2\n')
    expect(written).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    output.write('3\n')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(written).toEqual(['1\n2\n', '3\n'])
  })

  it('writes at once what is too much to gather', () => {
    const { written, output } = open()
    const line = `${'x'.repeat(64 * 1024)}\n`
    output.write(line)
    expect(written).toEqual([line])
  })

  it('writes the rest when flushed, and nothing twice', () => {
    const { written, output } = open()
    output.write('1\n')
    output.flush()
    output.flush()
    // Timers are not counted: in a process of many tests, others may begin some meanwhile.
    vi.advanceTimersByTime(1_000)
    expect(written).toEqual(['1\n'])
  })
})
