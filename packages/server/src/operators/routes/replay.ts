import type { OrderId } from '@trunkline/core/domain/ids'
import Type from 'typebox'
import { uuidInPath } from '../../http/params.ts'
import { oneOf, record, uuid } from '../../wire/common.ts'
import { type Operation, operation } from '../endpoint.ts'
import { orderRow, presentOrderRow } from '../records.ts'
import { replay } from '../replay/run.ts'

const PARTS = ['broker', 'account', 'answer', 'time', 'fills', 'end', 'changes', 'outcome', 'market'] as const

const replayRecord = record('OrderReplay', 'An order that was placed again in the sandbox.', {
  original_order_id: uuid,
  order: orderRow,
  not_repeated: Type.Array(
    record('NotRepeated', 'A part of the original that the replay does not have.', {
      part: oneOf(PARTS, { description: '`outcome`: how the two differ at the end of the replay.' }),
      why: Type.String()
    })
  )
})

export const REPLAY: readonly Operation[] = [
  operation({
    scope: 'sandbox',
    tag: 'Sandbox',
    method: 'POST',
    path: '/orders/:order_id/replay',
    operationId: 'replayOrder',
    summary: 'Replay an order in the sandbox',
    description: `Places the same order in a practice account of the sandbox that this service started, with the broker’s answer and fills as the order
has them recorded: a refusal with its message, a lost or late answer, fills with their quantities and prices, a cancel. No order reaches another place.
One replay runs at a time, and prices of the sandbox pause for it. The answer comes after about ten seconds at most, and says what was not repeated. An order that is open then is cancelled.
A repetition places another order. If the answer is lost, \`replays\` beside the steps of the original names the new order (\`order.replayed\`).`,
    failures: [
      ...(['order_not_found', 'order_not_repeatable', 'order_not_supported', 'connection_broken', 'broker_unavailable'] as const),
      ...(['sandbox_absent', 'sandbox_refused', 'sandbox_unavailable'] as const)
    ],
    params: { order_id: uuidInPath<OrderId>('The order to repeat.') },
    success: { status: 201, description: 'The new order, as it is at the end of the replay.', schema: replayRecord },
    async handle({ caller, path }, deps) {
      const { original, order, notRepeated } = await deps.replays.run(() => replay(deps, caller, path.order_id))
      return {
        original_order_id: original.orderId,
        order: presentOrderRow(order),
        not_repeated: notRepeated.map(({ part, why }) => ({ part, why }))
      }
    }
  })
]
