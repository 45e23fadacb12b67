/** How a recorded account stream of Tradier is put through its adapter. */

import type { WebSocket } from 'ws'
import { AccountEvents } from './collect.ts'
import { bookedFills, type Facts, orderFacts } from './facts.ts'
import { numberIn, type Recording, written } from './load.ts'
import { reply } from './replay.ts'
import { opened, row } from './tradier.ts'

/** Re-reads return the last event’s state. */
export async function eventsFacts(recording: Recording): Promise<Facts> {
  const account = String(recording.steps[0]?.payload.account ?? '6YA00001')
  await using replay = await opened(account)
  replay.on(
    'POST /v1/accounts/events/session',
    reply({ stream: { url: 'wss://ws.tradier.com/v1/accounts/events', sessionid: 'session-1' } })
  )
  let socket: WebSocket | null = null
  replay.onSocket((_text, client) => {
    socket = client
  })
  await using events = new AccountEvents(replay.broker)
  await events.live()
  const each: Facts[] = []
  for (const { payload, body } of recording.steps) {
    const { event: _, account: __, type, price, ...rest } = payload
    const order = row({ ...rest, type, price, quantity: quantityOf(rest) }, recording)
    replay.on(`GET /v1/accounts/${account}/orders/*`, { status: 200, body: written({ order }) })
    await events.after(() => socket?.send(body))
    const last = events.reports.at(-1)
    each.push(last === undefined ? {} : orderFacts(last, bookedFills(events.reports)))
  }
  return { ...each.at(-1), order: each.at(-1), after_each: each }
}

function quantityOf({ executed_quantity: done, exec_quantity: filled, remaining_quantity: left }: Recording['expected']): number {
  return Number(numberIn(done ?? filled ?? 0)) + Number(numberIn(left ?? 0))
}
