// Bad input of previews: what is wrong with an order is wrong with a preview, and a client order id is too much for it.
import { type Case, orderCases, type World } from './bad-input-cases.ts'

export function previewCases(world: World): readonly Case[] {
  const cases = orderCases(world).filter(({ what }) => !what.startsWith('order with cl_order_id'))
  const good = withoutId(orderCases(world).find(({ what }) => what.startsWith('order with account_id'))?.body)
  return [
    ...cases.map(one => ({
      ...one,
      what: one.what.replace('order', 'preview'),
      request: ['POST', '/orders/preview'] as const,
      body: withoutId(one.body)
    })),
    {
      what: 'preview with cl_order_id',
      request: ['POST', '/orders/preview'],
      body: { ...good, account_id: world.accountId, cl_order_id: 'mine' },
      status: 400,
      names: 'cl_order_id'
    },
    {
      what: 'an order without cl_order_id is no order',
      request: ['POST', '/orders'],
      body: { ...good, account_id: world.accountId },
      status: 400,
      names: 'cl_order_id'
    }
  ]
}

function withoutId(body: unknown): object {
  const { cl_order_id: _, ...rest }: Readonly<Record<string, unknown>> = Object(body)
  return rest
}
