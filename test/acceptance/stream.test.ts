// The broker stream from outside: updates and their replay on both databases, sessions and subscriptions on one.
import { after, before, describe } from 'node:test'
import { ENGINES } from './harness.ts'
import { replayCases } from './stream-replay-cases.ts'
import { sessionCases } from './stream-session-cases.ts'
import { Stage } from './stream-stage.ts'
import { subscriptionCases } from './stream-subscription-cases.ts'
import { updateCases } from './stream-update-cases.ts'

for (const engine of ENGINES) {
  describe(`the broker stream (${engine})`, () => {
    let stage: Stage | undefined
    before(async () => {
      stage = await Stage.open(engine)
    })
    after(() => stage?.[Symbol.asyncDispose]())
    const open = (): Stage => {
      if (stage === undefined) throw new Error('the service did not start')
      return stage
    }

    // Who may follow whom is decided above the database.
    if (engine === 'postgres') {
      describe('sessions', () => sessionCases(open))
      describe('subscriptions', () => subscriptionCases(open))
    }
    describe('updates', () => updateCases(open))
    describe('replay', () => replayCases(open))
  })
}
