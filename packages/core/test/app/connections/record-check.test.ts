import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOfOrder } from '@trunkline/core/app/broker-access/record-check'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { Leg } from '@trunkline/core/domain/order'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { anOrder } from '../../domain/an-order.ts'

test('every leg of a multi-leg order needs a valid symbol', () => {
  const leg = (symbol: string): Leg => ({ symbol, side: 'BUY_TO_OPEN', ratio: parseDecimal('1', 'ratio'), fills: [] })
  const report = (symbol: string): OrderReport => ({
    ...anOrder({ symbol: null, instrument: 'MLEG_OPT', legs: [leg('SPY261218C00660000'), leg(symbol)] }),
    ...{ brokerAccountId: 'a', brokerOrderId: 'o1', brokerStatus: 'open', filledTotal: null, updatedAt: anOrder().systemTime },
    ...{ replacesBrokerOrderId: null, replacedByBrokerOrderId: null }
  })
  assert.equal(faultOfOrder(report('SPY261218P00650000'), 'a'), null)
  assert.equal(faultOfOrder(report('<script>'), 'a'), 'malformed')
})
