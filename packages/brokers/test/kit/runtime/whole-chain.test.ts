import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { ChainEntry } from '@trunkline/core/domain/market/records'
import { parseDay } from '@trunkline/core/domain/timestamp'
import type { TopicSink } from '@trunkline/core/ports/market'
import { wholeChain } from '../../../src/kit/runtime/whole-chain.ts'

function entry(right: 'C' | 'P', strike: string, bid: string | null = null): ChainEntry {
  const unknown = { bidSize: null, ask: null, askSize: null, mid: null, last: null, open: null, high: null, low: null }
  const more = { close: null, previousClose: null, netChange: null, netChangePct: null, volume: null, greeks: null }
  const market = { ...unknown, ...more, bid: bid as Decimal | null }
  return { ...market, symbol: `${right}${Number(strike)}`, right, strike: strike as Decimal, expiration: parseDay('2026-01-16', 'day') }
}

/** A read of two strikes, and its stream's messages. */
function reading(strikes = ['145', '147.50']) {
  let isOver = false
  const { promise: opened, resolve } = Promise.withResolvers<TopicSink>()
  const giveUp = new AbortController()
  const stream = (sink: TopicSink) => {
    resolve(sink)
    const end = () => {
      isOver = true
    }
    return { renew() {}, [Symbol.dispose]: end }
  }
  const read = wholeChain(
    strikes.map(strike => strike as Decimal),
    stream,
    giveUp.signal
  )
  return { read, opened, giveUp, isOver: () => isOver }
}

test('a chain of several roots is whole when each root has every strike, and never earlier', async () => {
  const { read, opened, giveUp, isOver } = reading(['6000'])
  const sink = await opened
  const contract = (root: string, right: 'C' | 'P') => ({ ...entry(right, '6000'), symbol: `${root}260116${right}06000000` })
  sink.chain(contract('SPXW', 'C'))
  sink.chain(contract('SPX', 'C'))
  sink.chain(contract('SPXW', 'P'))
  await new Promise(setImmediate)
  assert.equal(isOver(), false, 'a put of SPX is to come')
  sink.chain(contract('SPX', 'P'))
  assert.equal((await read).length, 4)
  giveUp.abort()
})

test('a chain is whole with the call and the put of every strike, as they were last sent', async () => {
  const { read, opened, isOver } = reading()
  const sink = await opened
  for (const [right, strike] of [
    ['C', '145.00'],
    ['P', '145'],
    ['C', '147.5']
  ] as const)
    sink.chain(entry(right, strike))
  sink.chain(entry('C', '145', '2.5'))
  assert.equal(isOver(), false)
  sink.chain(entry('P', '147.5'))
  assert.deepEqual(
    (await read).map(({ symbol, bid }) => [symbol, bid]),
    [
      ['C145', '2.5'],
      ['P145', null],
      ['C147.5', null],
      ['P147.5', null]
    ]
  )
  assert.equal(isOver(), true)
})

test('a part is never taken for the whole: a stream that is lost, refused or late is a failure', async () => {
  const failures: readonly ((sink: TopicSink, giveUp: AbortController) => void)[] = [
    sink => sink.lost('lost', 'the connection ended'),
    sink => sink.refused('no such chain'),
    (_, giveUp) => giveUp.abort(new Error('too late'))
  ]
  for (const end of failures) {
    const { read, opened, giveUp, isOver } = reading()
    const sink = await opened
    sink.chain(entry('C', '145'))
    end(sink, giveUp)
    await assert.rejects(read, /the connection ended|no such chain|too late/)
    assert.equal(isOver(), true)
  }
})

test('without strikes there is no chain, and nothing is streamed', async () => {
  assert.deepEqual(await reading([]).read, [])
})
