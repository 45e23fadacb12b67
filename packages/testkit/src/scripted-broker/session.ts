// One login at a scripted broker.
import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import {
  type AccountEvent,
  type BalanceReport,
  type Broker,
  type BrokerAccount,
  BrokerFault,
  type CredentialsHolder,
  type Listed,
  type NewOrder,
  type OrderKey,
  type OrderReport,
  type Outcome,
  type PositionReport,
  PreviewPlaced,
  type ReplaceOrder,
  type Snapshot,
  type TransactionReport
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { OrderPreview, PreviewOrder } from '@trunkline/core/ports/preview'
import type { CommandKind, CommandPlan, ReadKind, ReadPlan } from './plans.ts'
import type { ScriptedState } from './state.ts'

export class ScriptedSession implements Broker {
  readonly #broker: ScriptedState
  readonly #credentials: CredentialsHolder
  readonly #dates: () => Pick<Clock, 'now'>
  readonly #closing = new AbortController()

  constructor(broker: ScriptedState, credentials: CredentialsHolder, dates: () => Pick<Clock, 'now'>) {
    this.#broker = broker
    this.#credentials = credentials
    this.#dates = dates
  }

  get market() {
    return this.#broker.market
  }

  get capabilities() {
    return this.#broker.capabilities
  }

  async accounts(signal: AbortSignal): Promise<Listed<BrokerAccount>> {
    await this.#read('accounts', signal)
    return { items: [] }
  }

  async balances(brokerAccountId: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    const plan = await this.#read('balances', signal)
    const asOf = this.#dates().now()
    const cash = this.#broker.cash(brokerAccountId)
    await this.#travel(plan, signal)
    const unknown = {
      buyingPower: null,
      initialMargin: null,
      maintenanceMargin: null,
      regTBuyingPower: null,
      equity: null,
      marketValue: null
    }
    return { ...readable(plan, [{ brokerAccountId, currency: 'USD', cash, ...unknown, asOf }], ({ currency }) => currency), asOf }
  }

  async positions(brokerAccountId: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    const asOf = this.#dates().now()
    const items = this.#broker.holdings(brokerAccountId)
    const plan = await this.#read('positions', signal)
    await this.#travel(plan, signal)
    return { ...readable(plan, plan.isEmpty === true ? [] : items, ({ symbol }) => symbol), asOf }
  }

  async orders(brokerAccountId: string, since: Timestamp, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const plan = await this.#read('orders', signal)
    const { hides } = plan
    const { ledger, clock, listsBy } = this.#broker
    const asOf = this.#dates().now()
    const brokerClock = clock.now()
    const items = ledger
      .list()
      .filter(order => order.brokerAccountId === brokerAccountId && (ledger.isLive(order) || order[listsBy] >= since))
      .filter(order => plan.isEmpty !== true && hides?.(order) !== true)
    await this.#travel(plan, signal)
    return { items: items.map(order => this.#broker.reported(order)), asOf, brokerClock }
  }

  async transactions(brokerAccountId: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    const items = this.#broker.traded(brokerAccountId).filter(({ day }) => day >= from && day <= to)
    const asOf = this.#dates().now()
    const plan = await this.#read('transactions', signal)
    await this.#travel(plan, signal)
    return { ...readable(plan, items, ({ brokerTransactionId }) => brokerTransactionId), asOf }
  }

  async findOrder(key: OrderKey, signal: AbortSignal): Promise<{ readonly found: OrderReport | null; readonly asOf: Timestamp }> {
    if (key.by === 'brokerClOrdId' && this.capabilities.deduplication === 'none')
      throw new Error('this broker finds nothing by client order id')
    const plan = await this.#read('findOrder', signal)
    const asOf = this.#dates().now()
    const found = this.#broker.ledger.find(key)
    const isShown = found !== null && plan.hides?.(found) !== true
    await this.#travel(plan, signal)
    return { found: isShown ? this.#broker.reported(found) : null, asOf }
  }

  async preview(order: PreviewOrder, signal: AbortSignal): Promise<OrderPreview> {
    const { ledger, previewed } = this.#broker
    await this.#travel(await this.#read('preview', signal), signal)
    if (previewed !== 'placed') return previewed
    throw new PreviewPlaced(ledger.add({ ...order, brokerClOrdId: `misplaced-${ledger.list().length}` }, 'working').brokerOrderId)
  }

  submit(order: NewOrder, signal: AbortSignal): Promise<Outcome<OrderReport>> {
    const { ledger } = this.#broker
    return this.#command('submit', order.brokerClOrdId, signal, plan => {
      if (plan.effect === 'refused_and_kept') return this.#refuseAndKeep(order, plan)
      if (ledger.byClient(order.brokerClOrdId) !== null) ledger.add(order, 'rejected')
      return { kind: 'accepted', value: this.#broker.reported(ledger.add(order, plan.status ?? 'working')) }
    })
  }

  replace(request: ReplaceOrder, signal: AbortSignal): Promise<Outcome<OrderReport | null>> {
    const { ledger } = this.#broker
    return this.#command<OrderReport | null>('replace', request.brokerOrderId, signal, plan => {
      if (!ledger.isLive(request)) return refusal(`the order is ${ledger.get(request.brokerOrderId).status}`)
      if (!ledger.canBecome(request)) return refusal('more than that is filled already')
      if (plan.effect === 'taken') {
        this.#broker.taken.push(request)
        if (plan.unseen === undefined) return { kind: 'accepted', value: null }
        return { kind: 'accepted', value: null, fault: new BrokerFault(plan.unseen, 'the scripted broker shows no order now') }
      }
      return { kind: 'accepted', value: this.#broker.reported(ledger.replace(request)) }
    })
  }

  cancel(
    request: { readonly brokerAccountId: string; readonly brokerOrderId: string },
    signal: AbortSignal
  ): Promise<Outcome<OrderReport | null>> {
    const { ledger } = this.#broker
    return this.#command('cancel', request.brokerOrderId, signal, plan => {
      if (!ledger.isLive(request)) return refusal(`the order is ${ledger.get(request.brokerOrderId).status}`)
      return { kind: 'accepted', value: this.#broker.reported(ledger.move(request.brokerOrderId, plan.status ?? 'cancelled')) }
    })
  }

  async *events(signal: AbortSignal): AsyncGenerator<AccountEvent, void, undefined> {
    await this.#credentials.read(signal)
    this.#assertWelcome()
    yield* this.#broker.streams.read(AbortSignal.any([signal, this.#closing.signal]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the session was closed'))
  }

  async #read(kind: ReadKind, signal: AbortSignal): Promise<ReadPlan> {
    this.#broker.reads[kind] += 1
    const used = await this.#credentials.read(signal)
    this.#assertWelcome()
    const plan = this.#broker.readPlan(kind)
    if (plan.renews) await this.#credentials.renew(used, async current => ({ ...current, token: `${current.token}'` }), signal)
    if (plan.hangs !== undefined) await hang(plan.hangs === 'deadline' ? signal : null)
    if (plan.afterMs !== undefined) await this.#broker.clock.sleep(plan.afterMs, signal).catch(gaveUp)
    if (plan.fault !== undefined) throw new BrokerFault(plan.fault, `the scripted broker answers ${plan.fault}`)
    return plan
  }

  #refuseAndKeep(order: NewOrder, { message = REFUSES, rejectCode = 'other' }: CommandPlan): Outcome<OrderReport> {
    const { brokerOrderId } = this.#broker.ledger.add(order, 'pending')
    this.#broker.ledger.move(brokerOrderId, 'rejected', { brokerMessage: message, rejectCode })
    return refusal(message, rejectCode)
  }

  #assertWelcome(): void {
    if (this.#broker.rejects !== null) throw this.#broker.rejects
  }

  async #travel({ travelsMs }: ReadPlan, signal: AbortSignal): Promise<void> {
    if (travelsMs !== undefined) await this.#broker.clock.sleep(travelsMs, signal).catch(gaveUp)
  }

  async #command<T>(
    kind: CommandKind,
    target: string,
    signal: AbortSignal,
    carryOut: (plan: CommandPlan) => Outcome<T>
  ): Promise<Outcome<T>> {
    const plan = this.#broker.nextPlan(kind)
    const { clock, commands } = this.#broker
    if (this.#closing.signal.aborted || plan.reply === 'not_sent')
      return { kind: 'not_sent', cause: new Error('no connection could be made') }
    if (plan.effect === 'refused_unsent')
      return { ...refusal<T>(plan.message ?? REFUSES, plan.rejectCode), brokerStatus: null, isUnsent: true }
    try {
      await this.#credentials.read(signal)
      this.#assertWelcome()
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    if (plan.waitsMs !== undefined) await clock.sleep(plan.waitsMs)
    // As adapters do right before the first byte.
    if (this.#credentials.mayCommand?.() === false) return { kind: 'not_sent', cause: new Error('this process may not send it any more') }
    const command = { kind, target, atMs: clock.monotonicMs() }
    commands.push(command)
    this.#broker.onCommand(command, this.#credentials)
    const effect = this.#effect(plan, carryOut)
    if (plan.reply === 'never') return await hang(null)
    if (plan.reply === 'deadline') return await hang(signal).catch(cause => ({ kind: 'unknown', cause }))
    const truth = plan.reply === undefined || plan.reply === 'truth' ? await effect : null
    if (plan.replyAfterMs !== undefined) await clock.sleep(plan.replyAfterMs)
    if (plan.reply === 'throws') throw new Error('the scripted adapter breaks its port')
    return truth ?? { kind: 'unknown', cause: new BrokerFault('unreachable', 'the answer was lost') }
  }

  /** Null: it never arrives. */
  #effect<T>(plan: CommandPlan, carryOut: (plan: CommandPlan) => Outcome<T>): Promise<Outcome<T> | null> {
    const apply = () =>
      plan.effect === 'none' ? null : plan.effect === 'refused' ? refusal<T>(plan.message ?? REFUSES, plan.rejectCode) : carryOut(plan)
    // Synchronously: the account stream may be faster than the answer.
    return plan.effectAfterMs === undefined ? Promise.resolve(apply()) : this.#broker.clock.sleep(plan.effectAfterMs).then(apply)
  }
}

const REFUSES = 'the scripted broker refuses'

function refusal<T>(message: string, rejectCode: RejectCode = 'other'): Extract<Outcome<T>, { kind: 'refused' }> {
  return { kind: 'refused', message, rejectCode, brokerStatus: 'refused' }
}

/** Null: for ever. */
function hang(signal: AbortSignal | null): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new BrokerFault('unreachable', 'no answer in time', { cause: signal?.reason }))
    if (signal?.aborted === true) fail()
    else signal?.addEventListener('abort', fail, { once: true })
  })
}

function gaveUp(cause: unknown): never {
  throw new BrokerFault('unreachable', 'no answer in time', { cause })
}

/** The items, without those that the plan leaves out. */
function readable<T>({ leavesOut = () => false }: ReadPlan, items: readonly T[], idOf: (item: T) => string): Listed<T> {
  const leftOut = items.map(idOf).filter(leavesOut)
  return { items: items.filter(item => !leavesOut(idOf(item))), ...(leftOut.length === 0 ? {} : { leftOut }) }
}
