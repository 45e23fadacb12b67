/** Requests of topics that a broker answers once each, in their order, without a number: by what it streams now, or by an error. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Topic } from '@trunkline/core/ports/market'
import type { FeedOwner, FeedSubscription } from './incremental-feed.ts'

type Action = 'subscribe' | 'unsubscribe'

/** What was sent and not answered yet. */
interface PendingRequest {
  readonly action: Action
  readonly number: number
  readonly members: readonly FeedSubscription[]
}

export interface OrderedRequestsOptions {
  readonly broker: string
  /** Symbols of a request. */
  readonly symbolsMax: number
  readonly send: (action: Action, members: readonly FeedSubscription[]) => void
}

export class OrderedRequests {
  readonly #options: OrderedRequestsOptions
  readonly #owner: Pick<FeedOwner, 'streamed' | 'refused'>
  readonly #pending: PendingRequest[] = []
  #lastNumber = 0

  constructor(options: OrderedRequestsOptions, owner: Pick<FeedOwner, 'streamed' | 'refused'>) {
    this.#options = options
    this.#owner = owner
  }

  request(action: Action, subscriptions: readonly FeedSubscription[]): void {
    const { symbolsMax, send } = this.#options
    for (let from = 0; from < subscriptions.length; from += symbolsMax) {
      this.#lastNumber += 1
      const members = subscriptions.slice(from, from + symbolsMax)
      if (action === 'subscribe') for (const member of members) member.requestNumber = this.#lastNumber
      this.#pending.push({ action, number: this.#lastNumber, members })
      send(action, members)
    }
  }

  /**
   * The oldest request was refused. One of many may be what the broker does not accept, so each is requested alone. @throws Malformed
   * without a request
   */
  refused(detail: string): void {
    const request = this.#pending.shift()
    if (request === undefined) throw new Malformed('our message', `one that ${this.#options.broker} can read`, detail)
    if (request.action === 'unsubscribe') return
    const wanted = request.members.filter(({ requestNumber }) => requestNumber === request.number)
    const [only, ...more] = wanted
    if (only === undefined) return
    const { channel, symbol } = only.topic
    if (more.length === 0) this.#owner.refused(only, `${this.#options.broker} does not stream ${channel} of ${symbol}: ${detail}`)
    else for (const member of wanted) this.request('subscribe', [member])
  }

  /** The oldest request was accepted; `isStreamed`: whether a topic is streamed now. */
  accepted(isStreamed: (topic: Topic) => boolean): void {
    const request = this.#pending.shift()
    if (request?.action !== 'subscribe') return
    for (const member of request.members) {
      if (member.requestNumber !== request.number || member.isLive) continue
      const { topic } = member
      if (isStreamed(topic)) this.#owner.streamed(member)
      else this.#owner.refused(member, `${this.#options.broker} did not begin to stream ${topic.channel} of ${topic.symbol}`)
    }
  }
}
