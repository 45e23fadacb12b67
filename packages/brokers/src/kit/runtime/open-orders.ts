/**
 * Whether the account stream reports what happens. It has no numbers and can stay open, answer pings and send nothing more, so the open
 * orders are read now and then: what changed from one reading to the next has to have been sent meanwhile.
 */

import { canonical, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import { BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { StreamFault } from '../stream-fault.ts'
import type { SentOrder } from './sent-orders.ts'

/** What a reading shows may still be on its way. */
const ON_ITS_WAY_MS = 2_000

export interface OpenOrdersOptions {
  readonly clock: Clock
  /** Single orders that are open, whatever they hang on. @throws BrokerFault */
  readonly read: (signal: AbortSignal) => Promise<readonly OrderReport[]>
  /** Undefined: nothing of the order was sent on this connection. */
  readonly sent: (brokerOrderId: string) => SentOrder | undefined
}

/** One reading: each open order, and how it had been sent by then. */
type Reading = ReadonlyMap<string, { readonly text: string; readonly sent: SentOrder | undefined }>

export class OpenOrders {
  readonly #options: OpenOrdersOptions
  #before: Reading | null = null

  constructor(options: OpenOrdersOptions) {
    this.#options = options
  }

  /** @throws StreamFault when the stream is silent; BrokerFault only when the login is over. */
  async check(signal: AbortSignal): Promise<void> {
    const { clock, sent } = this.#options
    const now = await this.#read(signal)
    if (now === null) return
    const before = this.#before
    this.#before = now
    if (before === null) return
    const changed = [...new Set([...before.keys(), ...now.keys()])].filter(id => before.get(id)?.text !== now.get(id)?.text)
    const isSilentAbout = (id: string) => sent(id) === before.get(id)?.sent && !isAsSent(now.get(id)?.text, sent(id))
    if (!changed.some(isSilentAbout)) return
    await clock.sleep(ON_ITS_WAY_MS, signal)
    if (changed.some(isSilentAbout)) throw new StreamFault('silence', 'orders change, and the account stream does not report it')
  }

  /** Null: it cannot be read now, which proves nothing about the stream. */
  async #read(signal: AbortSignal): Promise<Reading | null> {
    const { read, sent } = this.#options
    try {
      const orders = await read(signal)
      return new Map(orders.map(order => [order.brokerOrderId, { text: textOf(order), sent: sent(order.brokerOrderId) }]))
    } catch (error) {
      if (error instanceof BrokerFault && error.kind !== 'credentials_rejected') return null
      throw error
    }
  }
}

/** An order that is not open any more is in no reading. */
function isAsSent(text: string | undefined, sent: SentOrder | undefined): boolean {
  if (sent === undefined) return false
  return text === undefined ? !isOpen(sent.status) : text === `${sent.status} ${canonical(sent.filled)}`
}

function textOf({ status, filledTotal }: OrderReport): string {
  return `${status} ${canonical(filledTotal?.quantity ?? ZERO)}`
}
