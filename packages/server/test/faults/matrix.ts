import { after, before, describe, test } from 'node:test'
import { type Fault, Stage, type StageOptions } from './stage.ts'

/**
 * Plays every fault on one running service, one after the other, and looks at the end whether the service is as it was.
 * @param more further tests on the same stage, before that look.
 */
export function matrix(options: StageOptions, faults: readonly Fault[], more: (stage: () => Stage) => void = () => undefined): void {
  describe(`faults: ${options.name}`, () => {
    let stage: Stage

    before(async () => {
      stage = await Stage.open(options)
    })
    after(async () => await stage?.[Symbol.asyncDispose]())

    for (const fault of faults) test(`${fault.id} ${fault.title}`, () => stage.play(fault))

    more(() => stage)

    test('afterwards every log is whole, and memory and handles are back', async () => {
      await stage.accord.logsAreWhole()
      await stage.isBackToNormal()
    })
  })
}
