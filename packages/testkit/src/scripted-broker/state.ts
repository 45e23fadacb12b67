// A broker in memory with scripted behaviour: it loses, delays and repeats answers, and always keeps a correct ledger.

import { compare, type Decimal, dividedBy, minus, parseDecimal, plus, sum, times, ZERO } from '@trunkline/core/domain/decimal'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import { tradingDay } from '@trunkline/core/domain/timestamp'
import { REPLACE_FIELDS } from '@trunkline/core/domain/vocabulary'
import {
  type BrokerCapabilities,
  BrokerFault,
  type CredentialsHolder,
  type OrderReport,
  type PositionReport,
  type ReplaceOrder,
  type TransactionReport
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { ScriptedMarket } from './market.ts'
import { OrderLedger } from './order-ledger.ts'
import type { CommandKind, CommandPlan, PreviewAnswer, ReadKind, ReadPlan } from './plans.ts'
import { Streams } from './streams.ts'

export const SCRIPTED_CAPABILITIES: BrokerCapabilities = {
  id: parseBrokerId('SANDBOX'),
  name: 'Scripted',
  logoColor: '#000000',
  logoInitials: 'Sc',
  login: 'oauth',
  instruments: ['STK'],
  orderTypes: { STK: ['MKT', 'LMT'] },
  timesInForce: { STK: ['DAY', 'GTC'] },
  sides: { STK: ['BUY', 'SELL'] },
  exclusions: [],
  onlyInSession: [],
  extendedHours: 'with_regular',
  sessions: ['BrokerDefault'],
  marketData: {
    channels: [],
    historyIntervals: [],
    historyDays: {},
    dailyBars: 'all_hours',
    dailySessions: [],
    liveIntervals: [],
    liveVolume: 'all',
    symbolSearch: false,
    backfillMax: 0,
    historyLagMs: 0,
    everyTrade: true,
    streamNumbered: true,
    connections: 'one'
  },
  notional: true,
  fractional: true,
  replace: 'native',
  replaceFields: { STK: REPLACE_FIELDS, MLEG_OPT: REPLACE_FIELDS, OPT: REPLACE_FIELDS, FUT: REPLACE_FIELDS, CRYPTO: REPLACE_FIELDS },
  replacedOrderId: 'new',
  replacedQuantity: 'total',
  accountStream: true,
  accountStreamNumbered: false,
  executions: true,
  rejectReasons: true,
  tokens: 'refreshed',
  revocation: 'customer',
  transactions: true,
  orderPreview: true,
  deduplication: 'enforced',
  brokerClOrdId: { lengthMax: 32, alphabet: 'alphanumeric' }
}

/** A sent command. */
export interface SentCommand {
  readonly kind: CommandKind
  /** The client order id of a new order, the broker's id of one to cancel or replace. */
  readonly target: string
  readonly atMs: number
}

const START_CASH = parseDecimal('100000', 'cash')

/** The state and the plans of a scripted broker. */
export class ScriptedState {
  readonly clock: Clock
  /** The clock that dates answers: its own, or the caller's, as at most brokers, which do not date them. */
  dates: Pick<Clock, 'now'>
  readonly capabilities: BrokerCapabilities
  readonly streams: Streams
  readonly ledger: OrderLedger
  /** Null: it has none. */
  market: ScriptedMarket | null = null
  readonly commands: SentCommand[] = []
  /** Called with each command as its first byte leaves the caller, and with the login that it is sent with. */
  onCommand: (command: SentCommand, sender: CredentialsHolder) => void = () => undefined
  readonly reads: Record<ReadKind, number> = {
    accounts: 0,
    balances: 0,
    positions: 0,
    orders: 0,
    transactions: 0,
    findOrder: 0,
    preview: 0
  }
  /** The answer to previews. */
  previewed: PreviewAnswer = {
    kind: 'estimated',
    estimate: {
      ...{ currency: 'USD', price: null, cost: null, total: null, commission: null, fees: null },
      ...{ initialMargin: null, marginChange: null, buyingPowerChange: null, warnings: [] }
    }
  }
  /** Sessions opened. */
  sessions = 0
  /** Whether lists have orders changed since a time or, as at some brokers, only those entered since. */
  listsBy: 'updatedAt' | 'entryTime' = 'updatedAt'
  /** Whether reports have each execution or, as at some brokers, only their total. */
  reports: 'fills' | 'totals' = 'fills'
  /** Replacements that were accepted and not carried out; `ledger.replace` does. */
  readonly taken: ReplaceOrder[] = []
  /** Set once the login was revoked at the broker: every request is refused with it. */
  rejects: BrokerFault | null = null
  /** Plans of the next commands, each used once, in order. */
  readonly plans: Record<CommandKind, CommandPlan[]> = { submit: [], cancel: [], replace: [] }
  /** The plan of all other commands. */
  plan: (kind: CommandKind) => CommandPlan = () => ({})
  readPlan: (kind: ReadKind) => ReadPlan = () => ({})

  constructor(clock: Clock, capabilities: Partial<BrokerCapabilities> = {}) {
    this.clock = clock
    this.dates = clock
    this.capabilities = { ...SCRIPTED_CAPABILITIES, ...capabilities }
    this.streams = new Streams(clock)
    this.ledger = new OrderLedger(clock, report => this.streams.publish(this.reported(report)), this.capabilities.replacedOrderId)
  }

  /** What revoking a login does. */
  revoke: (credentials: Readonly<Record<string, string>>) => Promise<void> = async () => undefined

  /** The broker's report of an order in the ledger. */
  reported(truth: OrderReport): OrderReport {
    const report = this.capabilities.deduplication === 'none' ? { ...truth, brokerClOrdId: null } : truth
    const { fills } = report
    if (this.reports === 'fills' || fills === null) return report
    const quantity = sum(fills.map(fill => fill.quantity))
    const amount = sum(fills.map(fill => times(fill.quantity, fill.price)))
    const averagePrice = fills.length === 0 ? null : dividedBy(amount, quantity, 9)
    return { ...report, fills: null, filledTotal: { quantity, averagePrice } }
  }

  nextPlan(kind: CommandKind): CommandPlan {
    return this.plans[kind].shift() ?? this.plan(kind)
  }

  /** How often commands of the kind were sent. */
  sent(kind: CommandKind): number {
    return this.commands.filter(command => command.kind === kind).length
  }

  /** Ends the user's login. */
  reject(): void {
    this.rejects = new BrokerFault('credentials_rejected', 'the scripted broker knows this login no more')
    this.streams.fail(this.rejects)
  }

  /** Ends all deviations. */
  heal(): void {
    for (const plans of Object.values(this.plans)) plans.length = 0
    this.plan = () => ({})
    this.readPlan = () => ({})
    this.streams.route = report => [{ report, afterMs: 0 }]
    this.streams.up()
  }

  cash(brokerAccountId: string): Decimal {
    return this.#fills(brokerAccountId).reduce((cash, fill) => minus(cash, times(fill.signed, fill.price)), START_CASH)
  }

  holdings(brokerAccountId: string): readonly PositionReport[] {
    const quantities = new Map<string, Decimal>()
    for (const { symbol, signed } of this.#fills(brokerAccountId)) quantities.set(symbol, plus(quantities.get(symbol) ?? ZERO, signed))
    const unknown = { lastPrice: null, averagePrice: null, unrealizedPl: null, realizedPl: null, dailyPl: null, totalPl: null }
    return [...quantities]
      .filter(([, quantity]) => compare(quantity, ZERO) !== 0)
      .map(([symbol, quantity]) => ({ brokerAccountId, symbol, instrument: 'STK', quantity, ...unknown, brokerPositionId: null }))
  }

  /** A transaction for each execution, at once; the newest first. */
  traded(brokerAccountId: string): readonly TransactionReport[] {
    const orders = this.ledger.list().filter(order => order.brokerAccountId === brokerAccountId)
    const unknown = { brokerType: null, fees: null, currency: 'USD', settlementDay: null, description: null }
    return orders
      .flatMap(({ brokerOrderId, symbol, instrument, side, fills }) =>
        (fills ?? []).map(({ fillId, at, quantity, price }) => ({
          ...unknown,
          ...{ brokerOrderId, symbol, instrument, quantity, price },
          brokerAccountId,
          brokerTransactionId: fillId,
          type: side === 'BUY' ? ('BUY' as const) : ('SELL' as const),
          amount: side === 'BUY' ? minus(ZERO, times(quantity, price)) : times(quantity, price),
          day: tradingDay(at)
        }))
      )
      .toReversed()
  }

  #fills(brokerAccountId: string) {
    return this.ledger
      .list()
      .filter(order => order.brokerAccountId === brokerAccountId)
      .flatMap(({ fills, side, symbol }) =>
        (fills ?? []).map(({ quantity, price }) => ({
          symbol: symbol ?? '',
          price,
          signed: side === 'BUY' ? quantity : minus(ZERO, quantity)
        }))
      )
  }
}
