// What is tried at a broker's practice account, step by step: everything is read, one share is ordered far below the market, changed and
// cancelled, and whatever is left of it is taken away again. Nothing here can fill while the market stays within a third of its price.
import { randomUUID } from 'node:crypto'
import { compare, type Decimal, dividedBy, parseDecimal, times } from '@trunkline/core/domain/decimal'
import { isOpen, type OrderTicket } from '@trunkline/core/domain/order'
import { epochMs, parseDay, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Broker, BrokerDefinition, OrderReport, Outcome } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { Followed } from './followed.ts'
import { priceOf } from './price.ts'

export interface Rehearsal {
  readonly definition: BrokerDefinition
  readonly broker: Broker
  readonly symbol: string
  readonly clock: Clock
  readonly print: (text: string) => void
  /** Null: the first account. */
  readonly accountNumber: string | null
}

const ONE = parseDecimal('1', 'quantity')
const [FIRST, SECOND] = [parseDecimal('0.67', 'share of the price'), parseDecimal('0.66', 'share of the price')]
const CALL_MS = 20_000
const PATIENCE_MS = 60_000
const LOOK_MS = 1_000
const DAY_MS = 86_400_000

/** Runs it all. Gives what did not go as it should; empty: all did. Throws only when nothing could be placed at all. */
export async function rehearse(rehearsal: Rehearsal): Promise<readonly string[]> {
  const { broker, clock, print, definition } = rehearsal
  const { items: accounts } = await broker.accounts(within())
  for (const { accountNumber, accountType, currency } of accounts)
    print(`account ${masked(accountNumber)} ${accountType ?? ''} ${currency ?? ''}`)
  const account = accounts.find(({ accountNumber }) => rehearsal.accountNumber === null || accountNumber === rehearsal.accountNumber)
  if (account === undefined) throw new Error('there is no such account in this login')
  await readAll(rehearsal, account.brokerAccountId)
  const price = await priceOf(broker, rehearsal.symbol, clock)
  print(`${rehearsal.symbol} stands at ${price}`)
  const startedMs = epochMs(clock.now())
  const trial = new Trial(rehearsal, account.brokerAccountId, startedMs)
  using followed = definition.capabilities.accountStream ? new Followed(broker) : null
  try {
    if (followed !== null) trial.expect(await followed.isLive(clock, PATIENCE_MS), 'the account stream does not come up')
    await trial.run(price)
    if (followed !== null) await trial.compareWith(followed)
  } finally {
    await trial.cleanUp()
  }
  return trial.faults
}

async function readAll({ broker, clock, print, definition }: Rehearsal, brokerAccountId: string): Promise<void> {
  const nowMs = epochMs(clock.now())
  const balances = await broker.balances(brokerAccountId, within())
  for (const { currency, cash, buyingPower } of balances.items)
    print(`balance ${currency}: cash ${cash ?? '?'}, buying power ${buyingPower ?? '?'}`)
  const positions = await broker.positions(brokerAccountId, within())
  const orders = await broker.orders(brokerAccountId, timestampOfMs(nowMs - DAY_MS), within())
  print(`${positions.items.length} positions, ${orders.items.length} orders since yesterday`)
  if (!definition.capabilities.transactions) return print('transactions: this broker has none')
  const day = (ms: number) => parseDay(new Date(ms).toISOString().slice(0, 10), 'day')
  const transactions = await broker.transactions(brokerAccountId, day(nowMs - 30 * DAY_MS), day(nowMs), within())
  print(`${transactions.items.length} transactions in thirty days`)
}

class Trial {
  readonly faults: string[] = []
  readonly #rehearsal: Rehearsal
  readonly #account: string
  readonly #startedMs: number
  readonly #clientIds = new Set<string>()
  readonly #brokerIds = new Set<string>()
  readonly #prices: Decimal[] = []

  constructor(rehearsal: Rehearsal, brokerAccountId: string, startedMs: number) {
    this.#rehearsal = rehearsal
    this.#account = brokerAccountId
    this.#startedMs = startedMs
  }

  async run(price: Decimal): Promise<void> {
    const { broker, definition, print } = this.#rehearsal
    const brokerAccountId = this.#account
    const ticket = this.#ticket(price, FIRST)
    print(`orders one ${ticket.symbol} at ${ticket.limitPrice}`)
    const placed = this.#taken('submit', await broker.submit({ ...ticket, brokerAccountId, brokerClOrdId: this.#clientId() }, within()))
    if (placed === null) return
    let order = await this.#settled(placed.brokerOrderId, ({ status }) => status !== 'pending')
    this.expect(order?.status === 'working', `the order should be working, is ${order?.status ?? 'not to be found'}`)
    if (definition.capabilities.replace === 'native' && order?.status === 'working') order = await this.#replace(order, price)
    if (order === null || !isOpen(order.status)) return
    const { brokerOrderId } = order
    const cancelled = await broker.cancel({ brokerAccountId, brokerOrderId }, within())
    this.#taken('cancel', cancelled)
    if (cancelled.kind !== 'accepted') return
    const ended = await this.#settled(brokerOrderId, ({ status }) => !isOpen(status))
    this.expect(ended?.status === 'cancelled', `the order should be cancelled, is ${ended?.status ?? 'not to be found'}`)
    if (ended?.status === 'cancelled') print(`${brokerOrderId} is cancelled`)
  }

  async compareWith(followed: Followed): Promise<void> {
    const { print, clock } = this.#rehearsal
    const ends = clock.monotonicMs() + PATIENCE_MS
    const missing = () => [...this.#brokerIds].filter(id => !followed.hasSeen(id))
    while (missing().length > 0 && clock.monotonicMs() < ends) await clock.sleep(LOOK_MS)
    this.expect(missing().length === 0, `the account stream did not report ${missing().join(', ')}${followed.problem()}`)
    if (missing().length === 0) print(`the account stream reported ${this.#brokerIds.size} orders${followed.problem()}`)
  }

  /** Takes away whatever of ours is still open, also what no answer reported. */
  async cleanUp(): Promise<void> {
    const { broker, print, clock } = this.#rehearsal
    const ends = clock.monotonicMs() + PATIENCE_MS
    for (;;) {
      const { items } = await broker.orders(this.#account, timestampOfMs(this.#startedMs), within())
      const left = items.filter(report => this.#isOurs(report))
      for (const { brokerOrderId, status } of left)
        if (status === 'filled' || status === 'partially_filled') this.expect(false, `${brokerOrderId} was filled: sell what it bought`)
      const open = left.filter(({ status }) => isOpen(status))
      if (open.length === 0) return print('nothing of this run is open at the broker')
      if (clock.monotonicMs() > ends)
        return this.expect(false, `still open, cancel by hand: ${open.map(({ brokerOrderId }) => brokerOrderId).join(', ')}`)
      for (const { brokerOrderId, status } of open)
        if (status !== 'pending_cancel') await broker.cancel({ brokerAccountId: this.#account, brokerOrderId }, within())
      await clock.sleep(LOOK_MS)
    }
  }

  async #replace(order: OrderReport, price: Decimal): Promise<OrderReport | null> {
    const { broker, definition, print } = this.#rehearsal
    const { brokerOrderId } = order
    const ticket = this.#ticket(price, SECOND)
    const request = { brokerAccountId: this.#account, brokerOrderId, brokerClOrdId: this.#clientId(), ticket }
    const replaced = this.#taken('replace', await broker.replace(request, within()))
    if (replaced === null) return order
    const keepsId = replaced.brokerOrderId === brokerOrderId
    const { replacedOrderId } = definition.capabilities
    this.expect(
      keepsId === (replacedOrderId === 'same'),
      `a replaced order should have a ${replacedOrderId} id, was ${brokerOrderId}, is ${replaced.brokerOrderId}`
    )
    const present = await this.#settled(
      replaced.brokerOrderId,
      ({ limitPrice }) => limitPrice !== null && compare(limitPrice, ticket.limitPrice ?? limitPrice) === 0
    )
    this.expect(present !== null, 'the replaced order is not to be found')
    print(`changed to ${ticket.limitPrice}; its id is ${keepsId ? 'kept' : 'new'}`)
    return present
  }

  #ticket(price: Decimal, share: Decimal): OrderTicket {
    // To whole cents: what every broker takes for a share above a dollar.
    const limitPrice = dividedBy(times(price, share), ONE, 2)
    this.#prices.push(limitPrice)
    const { symbol } = this.#rehearsal
    return {
      side: 'BUY',
      type: 'LMT',
      tif: 'DAY',
      symbol,
      instrument: 'STK',
      quantity: ONE,
      notional: null,
      limitPrice,
      stopPrice: null,
      legs: null
    }
  }

  #clientId(): string {
    const { alphabet, lengthMax } = this.#rehearsal.definition.capabilities.brokerClOrdId
    const uuid = randomUUID()
    const id = alphabet === 'uuid' ? uuid : uuid.replaceAll('-', '').slice(0, lengthMax)
    this.#clientIds.add(id)
    return id
  }

  /** The value of an outcome that was accepted; null and a fault for any other. */
  #taken<T extends OrderReport | null>(what: string, outcome: Outcome<T>): T | null {
    if (outcome.kind === 'accepted') {
      if (outcome.value !== null) this.#brokerIds.add(outcome.value.brokerOrderId)
      return outcome.value
    }
    const why = outcome.kind === 'refused' ? outcome.message : String(outcome.cause)
    this.expect(false, `${what} was ${outcome.kind}: ${why}`)
    return null
  }

  /** Looks the order up until `isSo`, or patience ends; the last that was seen. */
  async #settled(brokerOrderId: string, isSo: (report: OrderReport) => boolean): Promise<OrderReport | null> {
    const { broker, clock } = this.#rehearsal
    const ends = clock.monotonicMs() + PATIENCE_MS
    for (;;) {
      const { found } = await broker.findOrder({ brokerAccountId: this.#account, by: 'brokerOrderId', brokerOrderId }, within())
      if ((found !== null && isSo(found)) || clock.monotonicMs() > ends) return found
      await clock.sleep(LOOK_MS)
    }
  }

  /** By id where the broker returns ours, else by terms that no other order had within this minute. */
  #isOurs({ brokerOrderId, brokerClOrdId, symbol, limitPrice, quantity, entryTime }: OrderReport): boolean {
    if (this.#brokerIds.has(brokerOrderId) || (brokerClOrdId !== null && this.#clientIds.has(brokerClOrdId))) return true
    const isAsRequested = symbol === this.#rehearsal.symbol && quantity !== null && compare(quantity, ONE) === 0
    return (
      isAsRequested &&
      epochMs(entryTime) >= this.#startedMs - LOOK_MS &&
      this.#prices.some(price => limitPrice !== null && compare(limitPrice, price) === 0)
    )
  }

  expect(isSo: boolean, fault: string): void {
    if (isSo) return
    this.faults.push(fault)
    this.#rehearsal.print(`FAULT: ${fault}`)
  }
}

function within(): AbortSignal {
  return AbortSignal.timeout(CALL_MS)
}

function masked(accountNumber: string): string {
  return `…${accountNumber.slice(-3)}`
}
