import type { Update } from '../../src/streams/broker/items.ts'

/** An update of ada's: an order whose revision is its seq. */
export function orderUpdate(seq: number, orderId = 'a', status = 'working'): Update {
  return update(seq, {
    type: 'orders',
    data: { order_id: orderId, revision: seq, connection_id: 'c', normalized_status: status, system_time: `${seq}` }
  })
}

export function positionUpdate(seq: number, quantity: string, symbol = 'AAPL'): Update {
  const data = [
    { account_id: 'x', symbol, instrument: 'STK', broker_position_id: null, quantity, connection_id: 'c', system_time: `${seq}` }
  ]
  return update(seq, { type: 'positions', data })
}

export function balanceUpdate(seq: number, cash: string): Update {
  return update(seq, { type: 'balances', data: { account_id: 'x', currency_code: 'USD', cash, connection_id: 'c', system_time: `${seq}` } })
}

/** The test's records have the fields that a copy depends on, as text from the service would. */
function update(seq: number, rest: object): Update {
  return JSON.parse(JSON.stringify({ seq, event_id: `e${seq}`, user_id: 'ada', ...rest }))
}
