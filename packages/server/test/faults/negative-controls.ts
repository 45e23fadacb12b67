// The checks themselves: one update that is lost, doubled or altered on its way to a platform must be noticed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventOf, type Frame, type Passed, type Tampering } from '@trunkline/testkit/fault-proxy/index'
import { until } from '@trunkline/testkit/until'
import type { Stage } from './stage.ts'

/** Does it to the first update that holds `mark`, and to nothing else. */
class Once implements Tampering {
  isDone = false
  readonly #mark: string
  readonly #how: (frame: Frame) => readonly Frame[]

  constructor(mark: string, how: (frame: Frame) => readonly Frame[]) {
    this.#mark = mark
    this.#how = how
  }

  take(frame: Frame): Passed {
    const isIt = !this.isDone && eventOf(frame) !== null && frame.text?.includes(this.#mark) === true
    this.isDone ||= isIt
    return { frames: isIt ? this.#how(frame) : [frame], cut: false }
  }

  rest(): readonly Frame[] {
    return []
  }
}

const FILL = '"fill_id":"'

/** Another execution, of the same length. */
function altered({ bytes, text }: Frame): Frame {
  const copy = Buffer.from(bytes)
  const at = copy.indexOf(FILL) + FILL.length
  copy[at] = copy[at] === 0x58 ? 0x59 : 0x58
  return { bytes: copy, text }
}

const CASES = {
  lost: new Once('"seq":', () => []),
  doubled: new Once('"seq":', frame => [frame, frame]),
  altered: new Once(FILL, frame => [altered(frame)])
}

/** @param stage asked for when a test runs. */
export function negativeControls(stage: () => Stage): void {
  for (const [name, tampering] of Object.entries(CASES)) {
    test(`an update that is ${name} on its way is noticed`, async () => {
      const { world, accord } = stage()
      const { platformProxy } = world
      await world.unfollow('far')
      platformProxy.tamper(() => tampering)
      world.follow('fooled', { origin: () => platformProxy.url })
      try {
        await stage().trade(2)
        await until(() => tampering.isDone, 'it was done')
        platformProxy.clear()
        await assert.rejects(accord.reached(3_000), /fooled/)
      } finally {
        platformProxy.clear()
        await world.unfollow('fooled')
        world.follow('far', { origin: () => platformProxy.url })
      }
      await accord.reached()
    })
  }
}
