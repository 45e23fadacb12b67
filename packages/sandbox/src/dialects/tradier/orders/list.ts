/** Orders read: the list of a day, and one by its id. */

import { type Answer, type OrderView, paramOf } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import type { Accounts } from '../accounts.ts'
import { answer, textAnswer } from '../answers.ts'
import { dayOf, startOfDay } from '../days.ts'
import { isTrue, pageOf } from '../parameters.ts'
import { listed } from '../tree.ts'
import type { Chain } from './chain.ts'
import type { TradierOrders } from './tradier-orders.ts'

export interface ListDeps {
  readonly brokerage: BrokerageView
  readonly accounts: Accounts
  readonly view: TradierOrders
}

const LIMIT_DEFAULT = 25

export function listOrders(deps: ListDeps, call: Call): Answer {
  const account = deps.accounts.requested(call)
  const query = texts(call.request.query)
  const found = call.fault?.do === 'empty' ? [] : chainsIn(deps, account.id)
  const shown = pageOf(found, query, LIMIT_DEFAULT, call.fault)
  const withTags = isTrue(query.includeTags)
  return answer(
    call.request,
    listed(
      'orders',
      'order',
      shown.map(chain => deps.view.tree(deps.view.known(chain), withTags))
    )
  )
}

export function getOrder({ accounts, view }: ListDeps, call: Call): Answer {
  const account = accounts.requested(call)
  const known = view.lookUp(account.id, paramOf(call.request, 'id'))
  // Recorded: an id that never existed is answered like a foreign account.
  if (known === null) return textAnswer(401, `Unauthorized Account: ${paramOf(call.request, 'account').slice(0, 40)}`)
  return answer(call.request, { order: view.tree(known, isTrue(texts(call.request.query).includeTags)) })
}

/** The day's orders and those still working: newest first, each amended order once. */
function chainsIn({ brokerage, view }: ListDeps, accountId: string): readonly Chain[] {
  const { engine } = brokerage.state
  const accepted = engine.orders(accountId, { from: startOfDay(dayOf(brokerage.clock.now())) })
  const live = engine.orders(accountId, { live: true })
  const chains = new Map<string, Chain>()
  for (const order of [...accepted, ...live].filter(({ orderId }) => !brokerage.publisher.isHidden(orderId))) {
    const chain = view.chainOf(order)
    if (view.exists(chain)) chains.set(chain.first.orderId, chain)
  }
  return [...chains.values()].sort((a, b) => numberOf(b.first) - numberOf(a.first))
}

function numberOf({ orderId }: OrderView): number {
  return Number(orderId.slice(orderId.lastIndexOf('-') + 1))
}
