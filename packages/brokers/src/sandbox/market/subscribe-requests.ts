/** Topics as the sandbox's requests, in as few messages as they fit into. Pure except for the numbers it is given. */

import type { Topic } from '@trunkline/core/ports/market'
import type { Subscription } from './subscription.ts'

/** Far below the 256 KiB that the sandbox reads. */
const SYMBOLS_MAX = 2_000

export interface SubscribeRequest {
  readonly number: number
  readonly subscriptions: readonly Subscription[]
}

/** Each subscription is given the number of its message. */
export function subscribeFrames(
  subscriptions: readonly Subscription[],
  nextNumber: () => number
): readonly { readonly request: SubscribeRequest; readonly frame: string }[] {
  return messages(subscriptions).map(({ fields, members }) => {
    const number = nextNumber()
    for (const member of members) member.requestNumber = number
    return { request: { number, subscriptions: members }, frame: frameOf('add', number, fields, members) }
  })
}

export function unsubscribeFrames(subscriptions: readonly Subscription[], nextNumber: () => number): readonly string[] {
  return messages(subscriptions).map(({ fields, members }) => frameOf('drop', nextNumber(), fields, members))
}

interface Message {
  readonly fields: object
  readonly members: readonly Subscription[]
}

function messages(subscriptions: readonly Subscription[]): readonly Message[] {
  const groups = Map.groupBy(subscriptions, ({ topic }) => JSON.stringify(fieldsOf(topic)))
  const parts: Message[] = []
  for (const members of groups.values()) {
    const [first] = members
    if (first === undefined) continue
    for (let from = 0; from < members.length; from += SYMBOLS_MAX)
      parts.push({ fields: fieldsOf(first.topic), members: members.slice(from, from + SYMBOLS_MAX) })
  }
  return parts
}

function frameOf(op: 'add' | 'drop', n: number, fields: object, members: readonly Subscription[]): string {
  return JSON.stringify({ op, n, ...fields, symbols: members.map(({ topic }) => topic.symbol) })
}

function fieldsOf(topic: Topic): object {
  switch (topic.channel) {
    case 'bars':
      return { channel: 'bars', interval: topic.interval }
    case 'options_chain':
      return { channel: 'chain', expiration: topic.expiration }
    default:
      return { channel: topic.channel }
  }
}
