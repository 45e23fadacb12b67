import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { FoundSymbol } from '@trunkline/core/ports/market'
import { Stage } from '@trunkline/testkit/market-stage'

const found = (symbol: string): FoundSymbol => ({ symbol, instrument: 'STK', name: null, exchange: null })

test('the exact match comes first, then symbols that begin with it, each once and otherwise in the broker’s order', async () => {
  const stage = new Stage()
  stage.broker.found = ['XT', 'TSLA', 'AT', 'T', 'TM', 'TSLA'].map(found)
  assert.deepEqual(
    (await stage.market.search('t')).map(({ symbol }) => symbol),
    ['T', 'TSLA', 'TM', 'XT', 'AT']
  )
})

test('a broker without a search, and one that does not answer, have different refusals', async () => {
  await assert.rejects(new Stage({ symbolSearch: false }).market.search('t'), { code: 'unsupported_channel' })
  const stage = new Stage()
  stage.broker.fault = new BrokerFault('unreachable', 'gone')
  await assert.rejects(stage.market.search('t'), { code: 'broker_unavailable' })
})
