/** The order in which a few places go to many owners. */
import { describe, expect, it } from 'vitest'
import { createFairQueue } from '../../../src/inference/tiny/host/fair-queue.ts'

/** A queue of three places that tells who got one. */
function open() {
  const queue = createFairQueue(3)
  const served: string[] = []
  const enter = (name: string, priority = 0) => {
    const turn = queue.enter(name.charAt(0), priority)
    turn.granted.then(
      () => served.push(name),
      (error: { code: string }) => served.push(`${name}: ${error.code}`),
    )
    return turn
  }
  const settled = async () => {
    await new Promise(setImmediate)
    return served.splice(0)
  }
  return { queue, enter, settled }
}

describe('the queue for guarded processes', () => {
  it('leaves a place to another owner, however many one owner wants', async () => {
    const { enter, settled } = open()
    for (let i = 1; i <= 12; i++) enter(`a${i}`)
    expect(await settled()).toEqual(['a1', 'a2'])
    enter('b1')
    expect(await settled()).toEqual(['b1'])
  })

  it('serves whoever had its turn longest ago, a newcomer before all', async () => {
    const { enter, settled } = open()
    const turns = ['a1', 'a2', 'b1', 'b2', 'a3', 'b3'].map((name) => enter(name))
    expect(await settled()).toEqual(['a1', 'a2', 'b1'])
    enter('c1')
    turns[2]?.leave()
    expect(await settled()).toEqual(['c1'])
    turns[0]?.leave()
    expect(await settled()).toEqual(['a3'])
  })

  it('goes by priority first', async () => {
    const { enter, settled } = open()
    const first = ['a1', 'b1', 'c1'].map((name) => enter(name))
    enter('d1', 5)
    enter('e1', -1)
    await settled()
    first[0]?.leave()
    expect(await settled()).toEqual(['e1'])
  })

  it('lets go of those who leave, waiting or served, once', async () => {
    const { enter, settled } = open()
    const [a1, a2, a3] = ['a1', 'a2', 'a3'].map((name) => enter(name))
    a3?.leave()
    a3?.leave()
    a1?.leave()
    a1?.leave()
    enter('a4')
    enter('a5')
    expect(await settled()).toEqual(['a1', 'a2', 'a3: client_closed_request', 'a4'])
    a2?.leave()
    expect(await settled()).toEqual(['a5'])
  })

  it('refuses all who wait when it is closed', async () => {
    const { queue, enter, settled } = open()
    const a1 = enter('a1')
    for (const name of ['a2', 'a3']) enter(name)
    await settled()
    queue.close()
    a1.leave()
    expect(await settled()).toEqual(['a3: server_draining'])
  })
})
