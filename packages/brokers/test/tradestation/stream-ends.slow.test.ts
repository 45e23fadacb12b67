/** Every way in which the broker ends a stream, by the sandbox's control API: each is reported, and the stream is restored. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TopicSink } from '@trunkline/core/ports/market'
import { until } from '@trunkline/testkit/until'
import { SandboxProcess } from '../sandbox/sandbox-process.ts'
import { definitionAt } from '../support/dialect-harness.ts'
import { MemoryHolder } from '../support/holder.ts'
import { TRADESTATION } from './harness.ts'
import { Followed } from './venue.ts'

/** Silence, GoAway, a plain end, and the errors that streams end with. */
const ACCOUNT_CODES = [null, 1001, 1000, 1011, 1012, 1013, 4500, 4503, 4504] as const
const MARKET_CODES = [null, 1001, 1000, 4409, 4500] as const

const sandbox = SandboxProcess.start()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

async function loggedIn() {
  const at = await sandbox
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

test('account streams that are ended, in whatever way, are gaps and live again', async () => {
  await using session = await loggedIn()
  await using followed = await Followed.live(session.broker)
  let gaps = 0
  for (const code of ACCOUNT_CODES) {
    await session.drop('account', code)
    await until(() => followed.history.filter(kind => kind.startsWith('gap')).length > gaps, `the end with ${code} is reported`)
    await until(() => followed.history.at(-1) === 'live', `live again after ${code}; received ${followed.history.join(', ')}`)
    gaps = followed.history.filter(kind => kind.startsWith('gap')).length
  }
  assert.ok(
    followed.history.every(kind => kind === 'live' || kind === 'gap lost' || kind === 'gap refused'),
    followed.history.join(', ')
  )
})

test('market streams that are ended, in whatever way, are losses and live again', async () => {
  await using session = await loggedIn()
  const { market } = session.broker
  assert.ok(market !== null)
  const history: string[] = []
  const nothing = () => undefined
  const sink: TopicSink = {
    live: () => void history.push('live'),
    lost: cause => void history.push(`lost ${cause}`),
    refused: message => void history.push(`refused ${message}`),
    quote: () => void history.push('quote'),
    trade: nothing,
    depth: nothing,
    bar: nothing,
    chain: nothing
  }
  using _lease = market.stream({ channel: 'quotes', symbol: 'BTC/USD' }, sink)
  for (const code of MARKET_CODES) {
    await until(() => history.at(-1) === 'quote', `a quote comes; received ${history.slice(-5).join(', ')}`)
    const before = history.length
    await session.drop('market', code)
    await until(() => history.slice(before).some(kind => kind.startsWith('lost')), `the end with ${code} is reported`)
    await until(() => history.slice(before).includes('live'), `live again after ${code}`)
  }
  assert.ok(!history.some(kind => kind.startsWith('refused')))
})
