/** Topics in the house's words, as few messages as they fit into. Pure but for the numbers it is given. */

import type { Topic } from '@trunkline/core/ports/market'
import type { Subscription } from './subscription.ts'

/** Far below the 256 KiB that the house reads. */
const SYMBOLS_MAX = 2_000

export interface Ask {
  readonly number: number
  readonly subscriptions: readonly Subscription[]
}

/** Each subscription is given the number of its message. */
export function askFrames(
  subscriptions: readonly Subscription[],
  nextNumber: () => number
): readonly { readonly ask: Ask; readonly frame: string }[] {
  return messages(subscriptions).map(({ words, members }) => {
    const number = nextNumber()
    for (const member of members) member.ask = number
    return { ask: { number, subscriptions: members }, frame: frameOf('add', number, words, members) }
  })
}

export function dropFrames(subscriptions: readonly Subscription[], nextNumber: () => number): readonly string[] {
  return messages(subscriptions).map(({ words, members }) => frameOf('drop', nextNumber(), words, members))
}

interface Message {
  readonly words: object
  readonly members: readonly Subscription[]
}

function messages(subscriptions: readonly Subscription[]): readonly Message[] {
  const groups = Map.groupBy(subscriptions, ({ topic }) => JSON.stringify(wordsOf(topic)))
  const parts: Message[] = []
  for (const members of groups.values()) {
    const [first] = members
    if (first === undefined) continue
    for (let from = 0; from < members.length; from += SYMBOLS_MAX)
      parts.push({ words: wordsOf(first.topic), members: members.slice(from, from + SYMBOLS_MAX) })
  }
  return parts
}

function frameOf(op: 'add' | 'drop', n: number, words: object, members: readonly Subscription[]): string {
  return JSON.stringify({ op, n, ...words, symbols: members.map(({ topic }) => topic.symbol) })
}

function wordsOf(topic: Topic): object {
  switch (topic.channel) {
    case 'bars':
      return { channel: 'bars', interval: topic.interval }
    case 'options_chain':
      return { channel: 'chain', expiration: topic.expiration }
    default:
      return { channel: topic.channel }
  }
}
