import { describe, expect, it } from 'vitest'
import {
  MEASURES,
  METRICS,
  measuresOf,
  moved,
  type OwnPanel,
  panelOf,
  statsQueryOf,
  titleOf,
} from '../../../src/page/home/panels/panel.ts'
import { CallStatsRequest } from '../../../src/schemas/stats/stats.ts'

const PANEL: OwnPanel = {
  title: '',
  metric: 'latency_ms',
  measure: 'p95',
  kind: 'lines',
  ops: ['a/b'],
  endUsers: ['u'],
  isRootsOnly: true,
}

const WINDOW = {
  project_id: 'acme/demo',
  start: '2026-01-01T00:00:00Z',
  end: '2026-01-02T00:00:00Z',
}

describe('a panel of the overview', () => {
  it('asks for a percentile of the calls of an operation, with all of its versions', () => {
    expect(statsQueryOf(PANEL, WINDOW, 'weave')).toEqual({
      ...WINDOW,
      call_metrics: [{ metric: 'latency_ms', aggregations: [], percentiles: [95] }],
      usage_metrics: [],
      filter: {
        op_names: ['a/b', 'weave:///acme/demo/op/a%2Fb:*'],
        end_user_ids: ['u'],
        trace_roots_only: true,
      },
    })
  })

  it('asks only for what the statistics have, whatever it measures', () => {
    for (const metric of Object.keys(METRICS))
      for (const measure of measuresOf(metric)) {
        const body = statsQueryOf({ ...PANEL, metric, measure }, WINDOW, 'weave')
        expect(CallStatsRequest.safeParse(body).error).toBeUndefined()
      }
    expect(measuresOf('call_count')).toEqual(['sum'])
    expect(measuresOf('latency_ms')).toEqual(Object.keys(MEASURES))
    expect(measuresOf('toString')).toEqual([])
  })

  it('is read as it was saved, and keeps its position where its content is unknown', () => {
    expect(panelOf({ id: 'x', ...PANEL })).toEqual({ id: 'x', own: PANEL })
    expect(panelOf({ id: 'calls' })).toEqual({ id: 'calls', own: null })
    expect(panelOf({ id: 'x', metric: 'later', measure: 'sum' })).toEqual({ id: 'x', own: null })
    expect(panelOf({ id: 'x', metric: 'call_count', measure: 'p95' })?.own).toBeNull()
    expect(panelOf({ metric: 'call_count', measure: 'sum' })).toBeNull()
  })

  it('is named by what it measures unless it has a title', () => {
    expect(titleOf(PANEL)).toBe('Latency, 95th percentile: a/b, u')
    expect(titleOf({ ...PANEL, title: 'Mine' })).toBe('Mine')
  })

  it('moves to another position, and stays at the ends', () => {
    const list = ['a', 'b', 'c'].map((id) => ({ id }))
    const ids = (id: string, to: number) =>
      moved(list, id, to)
        .map((entry) => entry.id)
        .join('')
    expect([ids('a', 1), ids('c', 0), ids('a', -1), ids('c', 9), ids('x', 0)]).toEqual([
      'bac',
      'cab',
      'abc',
      'abc',
      'abc',
    ])
  })
})
