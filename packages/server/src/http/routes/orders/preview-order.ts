import { previewOrder } from '@trunkline/core/app/orders/preview-order'
import { type AccountId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import { previewTicket } from '../../../wire/order.ts'
import { presentPreview, previewRecord } from '../../../wire/preview.ts'
import { userEndpoint } from '../../endpoint.ts'
import { termsOf } from './fields.ts'

export const postPreview = userEndpoint({
  method: 'POST',
  path: '/orders/preview',
  scope: 'trade',
  operationId: 'previewOrder',
  tag: 'Orders',
  summary: 'Preview an order',
  description:
    'Asks the broker what an order would cost. Nothing is placed. The body is that of `POST /orders` without `cl_order_id`: a preview refuses that field, so ' +
    'neither body can be sent to the other endpoint by mistake. A preview passes the same checks as an order. If the broker would refuse the order, the ' +
    'response is a 200 with the `outcome` `refused`. The broker is asked once and has five seconds; a 503 means that it gave no preview, and that nothing was ' +
    'placed. Where `order_preview` in `GET /brokers` is false, the broker is not asked and the error is `preview_unsupported`.',
  failures: [
    'account_not_found',
    'connection_broken',
    'entitlement_missing',
    'order_not_supported',
    'preview_unsupported',
    'broker_unavailable'
  ],
  body: previewTicket,
  bodyExample: {
    account_id: '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71',
    broker: 'SANDBOX',
    side: 'BUY',
    order_type: 'LMT',
    order_tif: 'DAY',
    symbol: 'AAPL',
    order_qty: '10',
    order_limit_price: '187.50'
  },
  success: { status: 200, description: 'The broker’s estimate, or its refusal.', schema: previewRecord },
  async handle({ caller, body }, { deps }) {
    const accountId = parseUuid<AccountId>(body.account_id, 'account_id')
    return presentPreview(await previewOrder(deps, caller, { accountId, broker: parseBrokerId(body.broker), ...termsOf(body) }))
  }
})
