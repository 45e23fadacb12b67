import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../ops/form-browser.ts'
import { Client, listOf, type Platform, Refused, recordOf, textOf } from './client.ts'
import { table } from './table.ts'

export interface Stage {
  readonly platform: Platform
  readonly login: { readonly username: string; readonly password: string }
  readonly broker: string
  /** What is traded, and where few shares are on offer so that an order fills in parts. */
  readonly symbol: string
  readonly thin: { readonly symbol: string; readonly quantity: string }
  /** The days whose transactions are shown; null: the service's own choice. */
  readonly day: string | null
  readonly say: (text: string) => void
}

type Json = Readonly<Record<string, unknown>>

const FINAL = new Set(['filled', 'cancelled', 'rejected', 'expired', 'replaced'])
const PATIENCE_MS = 15_000

/** One whole life at a broker, told step by step. Gives the orders it placed, for whoever wants to check them. */
export async function tell(stage: Stage): Promise<readonly Json[]> {
  const { platform, say } = stage
  const userId = `demo-${crypto.randomUUID().slice(0, 8)}`
  const { 'user-secret': secret } = await new Client(platform).post('/users', { user_id: userId })
  const client = new Client(platform, { userId, userSecret: String(secret) })
  say(`1. A user is created: ${userId}`)

  const link = textOf(await client.post('/connections', { connection_type: 'trade', broker: stage.broker }), 'authorization_url')
  say(`2. The user connects ${stage.broker} in the portal as ${stage.login.username}: “${await connect(link, stage.broker, stage.login)}”`)
  const accounts = await client.list('/accounts')
  say(
    table([
      ['account', 'type', 'name', 'account_id'],
      ...accounts.map(row => fields(row, ['account_number', 'account_type', 'name', 'account_id']))
    ])
  )
  const account = accounts.find(row => textOf(row, 'account_type') === 'margin') ?? accounts[0]
  if (account === undefined) throw new Error('the connection has no account to trade in')

  const trader = new Trader(client, stage, textOf(account, 'account_id'))
  say('3. Orders')
  await trader.trade()
  say(trader.report())
  await report(client, textOf(account, 'account_id'), stage)
  return trader.orders()
}

/** Places the demo's orders one after another and keeps what became of each. */
class Trader {
  readonly #client: Client
  readonly #stage: Stage
  readonly #accountId: string
  readonly #told: { readonly what: string; readonly order: Json }[] = []
  #count = 0

  constructor(client: Client, stage: Stage, accountId: string) {
    this.#client = client
    this.#stage = stage
    this.#accountId = accountId
  }

  async trade(): Promise<void> {
    const { symbol, thin } = this.#stage
    const bought = await this.#place('market buy', { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol, order_qty: '10' })
    const price = textOf(listOf(bought, 'fills')[0] ?? {}, 'price')
    await this.#place('limit buy at the market', {
      side: 'BUY',
      order_type: 'LMT',
      order_tif: 'DAY',
      symbol,
      order_qty: '5',
      order_limit_price: moved(price, 101n)
    })
    const partial = { side: 'BUY', order_type: 'LMT', order_tif: 'IOC', symbol: thin.symbol, order_qty: thin.quantity }
    await this.#place('more than is on offer: a partial fill', {
      ...partial,
      order_limit_price: moved(await this.#priceOf(thin.symbol, price), 101n)
    })

    const resting = { side: 'BUY', order_type: 'LMT', order_tif: 'GTC', symbol, order_qty: '20', order_limit_price: moved(price, 95n) }
    const working = await this.#place('limit buy below the market', resting, 'working')
    const modified = await this.#client.patch(this.#path(working), {
      new_cl_order_id: this.#clOrderId(),
      broker: this.#stage.broker,
      order_limit_price: moved(price, 96n)
    })
    this.#tell('… modified', modified)
    this.#tell('… cancelled', await this.#settled(await this.#client.delete(this.#path(modified))))
    await this.#place('far more than the account can pay', {
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol,
      order_qty: '1000000'
    })
    await this.#place('market sell', { side: 'SELL', order_type: 'MKT', order_tif: 'DAY', symbol, order_qty: '4' })
    await this.#repeat()
  }

  orders(): readonly Json[] {
    return this.#told.map(({ order }) => order)
  }

  report(): string {
    const rows = this.#told.map(({ what, order }) => {
      const fills = listOf(order, 'fills')
      const price =
        fills.length === 0 ? textOf(order, 'order_limit_price') || '–' : `${textOf(order, 'average_fill_price')} in ${fills.length}`
      return [
        what,
        `${textOf(order, 'side')} ${textOf(order, 'order_qty')} ${textOf(order, 'symbol')}`,
        textOf(order, 'normalized_status'),
        price,
        textOf(order, 'broker_message')
      ]
    })
    return table([['what', 'order', 'status', 'price', 'broker says'], ...rows])
  }

  /** The same client order id twice: the second must be refused, naming the first. */
  async #repeat(): Promise<void> {
    const first = this.#told[0]?.order ?? {}
    const body = { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol: this.#stage.symbol, order_qty: '10' }
    try {
      await this.#client.post('/orders', {
        ...body,
        account_id: this.#accountId,
        broker: this.#stage.broker,
        cl_order_id: textOf(first, 'cl_order_id')
      })
      throw new Error('a repeated cl_order_id was taken')
    } catch (cause) {
      if (!(cause instanceof Refused) || cause.status !== 409) throw cause
      this.#stage.say(`   The first cl_order_id once more is refused: ${cause.status} ${cause.message}`)
    }
  }

  async #place(what: string, order: Json, until?: string): Promise<Json> {
    const placed = await this.#client.post('/orders', {
      ...order,
      account_id: this.#accountId,
      broker: this.#stage.broker,
      cl_order_id: this.#clOrderId()
    })
    const settled = await this.#settled(placed, until)
    this.#tell(what, settled)
    return settled
  }

  /** Reads the order until it is final, or `until`. */
  async #settled(order: Json, until?: string): Promise<Json> {
    const deadline = performance.now() + PATIENCE_MS
    let present = order
    for (;;) {
      const status = textOf(present, 'normalized_status')
      if (FINAL.has(status) || status === until) return present
      if (performance.now() > deadline) throw new Error(`order ${textOf(order, 'order_id')} is still ${status}`)
      await pause(50)
      const rows = await this.#client.list(`/orders?account_id=${this.#accountId}&limit=50`)
      present = rows.find(row => textOf(row, 'order_id') === textOf(order, 'order_id')) ?? present
    }
  }

  async #priceOf(symbol: string, fallback: string): Promise<string> {
    if (symbol === this.#stage.symbol) return fallback
    const probe = await this.#place('one share, to learn the price', {
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol,
      order_qty: '1'
    })
    return textOf(listOf(probe, 'fills')[0] ?? {}, 'price') || fallback
  }

  #path(order: Json): string {
    return `/accounts/${this.#accountId}/orders/${textOf(order, 'order_id')}`
  }

  #clOrderId(): string {
    this.#count += 1
    return `demo-${this.#count}`
  }

  #tell(what: string, order: Json): void {
    this.#told.push({ what, order: recordOf(order) })
  }
}

async function report(client: Client, accountId: string, { say, day }: Stage): Promise<void> {
  const money = ['currency_code', 'cash', 'buying_power', 'equity', 'market_value', 'initial_margin']
  say('4. Balances')
  say(table([money, ...(await client.list(`/balances?account_id=${accountId}`)).map(row => fields(row, money))]))
  const held = ['symbol', 'quantity', 'position_average_price', 'last_price', 'unrealized_pl', 'realized_pl', 'daily_pl']
  say('5. Positions')
  say(table([held, ...(await client.list(`/positions?account_id=${accountId}`)).map(row => fields(row, held))]))
  const moves = ['date', 'type', 'symbol', 'quantity', 'price', 'amount', 'fees']
  say('6. Transactions, newest first')
  const days = day === null ? '' : `&start_date=${day}&end_date=${day}`
  const transactions = await client.list(`/transactions?account_id=${accountId}${days}`)
  say(table([moves, ...transactions.slice(0, 8).map(row => fields(row, moves))]))
}

function fields(row: Json, names: readonly string[]): readonly string[] {
  return names.map(name => textOf(row, name) || '–')
}

/** A price times a percentage, cut to cents: whole numbers throughout. */
function moved(price: string, percent: bigint): string {
  const [whole = '0', fraction = ''] = price.split('.')
  const cents = (BigInt(whole + fraction.slice(0, 2).padEnd(2, '0')) * percent) / 100n
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
