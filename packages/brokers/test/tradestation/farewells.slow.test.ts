/** Every way in which the broker ends a stream, by the house's control API: each is told, and the stream is had again. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TopicSink } from '@trunkline/core/ports/market'
import { until } from '@trunkline/testkit/until'
import { HouseProcess } from '../sandbox/house.ts'
import { definitionAt } from '../support/dialect-harness.ts'
import { MemoryHolder } from '../support/holder.ts'
import { TRADESTATION } from './harness.ts'
import { Followed } from './venue.ts'

/** Nothing is said, GoAway, a plain end, and the errors that streams end with. */
const ACCOUNT_CODES = [null, 1001, 1000, 1011, 1012, 1013, 4500, 4503, 4504] as const
const MARKET_CODES = [null, 1001, 1000, 4409, 4500] as const

const house = HouseProcess.start()
after(async () => await (await house)[Symbol.asyncDispose]())

async function loggedIn() {
  const at = await house
  const { login } = await at.control('POST', '/logins', { accounts: TRADESTATION.accounts })
  const { credentials } = await at.control('POST', `/logins/${login.username}/token`, { dialect: TRADESTATION.name })
  const definition = definitionAt(at, TRADESTATION, at.url)
  const broker = definition.open(new MemoryHolder(credentials))
  return {
    broker,
    drop: async (on: 'account' | 'market', code: number | null) => {
      await at.control('POST', '/streams', {
        do: 'drop',
        on,
        login: login.username,
        dialect: TRADESTATION.name,
        ...(code === null ? {} : { code })
      })
    },
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
    }
  }
}

test('account streams that are ended, however it is said, are gaps and live again', async () => {
  await using session = await loggedIn()
  await using followed = await Followed.live(session.broker)
  let gaps = 0
  for (const code of ACCOUNT_CODES) {
    await session.drop('account', code)
    await until(() => followed.words.filter(word => word.startsWith('gap')).length > gaps, `the end with ${code} is told`)
    await until(() => followed.words.at(-1) === 'live', `live again after ${code}; heard ${followed.words.join(', ')}`)
    gaps = followed.words.filter(word => word.startsWith('gap')).length
  }
  assert.ok(
    followed.words.every(word => word === 'live' || word === 'gap lost' || word === 'gap refused'),
    followed.words.join(', ')
  )
})

test('market streams that are ended, however it is said, are losses and live again', async () => {
  await using session = await loggedIn()
  const { market } = session.broker
  assert.ok(market !== null)
  const words: string[] = []
  const nothing = () => undefined
  const sink: TopicSink = {
    live: () => void words.push('live'),
    lost: cause => void words.push(`lost ${cause}`),
    refused: message => void words.push(`refused ${message}`),
    quote: () => void words.push('quote'),
    trade: nothing,
    depth: nothing,
    bar: nothing,
    chain: nothing
  }
  using _lease = market.stream({ channel: 'quotes', symbol: 'BTC/USD' }, sink)
  for (const code of MARKET_CODES) {
    await until(() => words.at(-1) === 'quote', `a quote comes; heard ${words.slice(-5).join(', ')}`)
    const heard = words.length
    await session.drop('market', code)
    await until(() => words.slice(heard).some(word => word.startsWith('lost')), `the end with ${code} is told`)
    await until(() => words.slice(heard).includes('live'), `live again after ${code}`)
  }
  assert.ok(!words.some(word => word.startsWith('refused')))
})
