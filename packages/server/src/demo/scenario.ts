import { connect } from '../ops/form-browser.ts'
import { tradingAccount } from './broker.ts'
import { Client, textOf } from './client.ts'
import { firstMessages } from './market.ts'
import type { Stage } from './stage.ts'
import { table } from './table.ts'
import { Trader } from './trader.ts'

type Json = Readonly<Record<string, unknown>>

/** Runs the whole scenario at a broker and prints each step. Returns the orders that it placed, for checks. */
export async function runScenario(stage: Stage): Promise<readonly Json[]> {
  const { platform, print, broker } = stage
  const userId = `demo-${crypto.randomUUID().slice(0, 8)}`
  const { 'user-secret': secret } = await new Client(platform).post('/users', { user_id: userId })
  const client = new Client(platform, { userId, userSecret: String(secret) })
  print(`1. A user is created: ${userId}`)

  const link = textOf(await client.post('/connections', { connection_type: 'trade', broker: broker.id }), 'authorization_url')
  const heading = await connect(link, broker.id, stage.login)
  print(`2. The user connects ${broker.name} (${broker.environment}) in the portal as ${stage.login.username}: “${heading}”`)
  const accounts = await client.list('/accounts')
  const columns = ['account_number', 'account_type', 'name', 'account_id']
  print(table([['account', 'type', 'name', 'account_id'], ...accounts.map(row => fields(row, columns))]))
  const accountId = tradingAccount(accounts)

  const trader = new Trader(client, stage, accountId)
  print('3. Orders')
  await trader.trade()
  print(trader.report())
  await report(client, accountId, stage)
  await watch(client, stage)
  return trader.orders()
}

async function report(client: Client, accountId: string, { print, day, broker }: Stage): Promise<void> {
  const money = ['currency_code', 'cash', 'buying_power', 'equity', 'market_value', 'initial_margin']
  print('4. Balances')
  print(table([money, ...(await client.list(`/balances?account_id=${accountId}`)).map(row => fields(row, money))]))
  const held = ['symbol', 'quantity', 'position_average_price', 'last_price', 'unrealized_pl', 'realized_pl', 'daily_pl']
  print('5. Positions')
  print(table([held, ...(await client.list(`/positions?account_id=${accountId}`)).map(row => fields(row, held))]))
  if (!broker.hasTransactions) return print(`6. Transactions: ${broker.name} has none`)
  const moves = ['date', 'type', 'symbol', 'quantity', 'price', 'amount', 'fees']
  print('6. Transactions, newest first')
  const days = day === null ? '' : `&start_date=${day}&end_date=${day}`
  const transactions = await client.list(`/transactions?account_id=${accountId}${days}`)
  print(table([moves, ...transactions.slice(0, 8).map(row => fields(row, moves))]))
}

/** Prints the first message of each of the broker's market data channels. */
async function watch(client: Client, { print, broker, symbol, marketUrl, day }: Stage): Promise<void> {
  // On a recorded day the market data and the options are not of today.
  if (day !== null) return
  if (broker.channels.length === 0) return print(`7. Market data: ${broker.name} has none`)
  const [connection] = await client.list('/connections')
  const answer = await client.get(`/connections/${textOf(connection ?? {}, 'connection_id')}/token`)
  const messages = await firstMessages(marketUrl, textOf(answer, 'access_token'), symbol, broker.channels)
  print(`7. Market data of ${symbol}: the first of each channel`)
  print(table([['channel', 'message'], ...messages]))
}

function fields(row: Json, names: readonly string[]): readonly string[] {
  return names.map(name => withoutPadding(textOf(row, name)) || '–')
}

/** Removes trailing zeros beyond the cents, which would only widen the table. */
function withoutPadding(text: string): string {
  return text.replace(/^(-?\d+)(?:\.0{3,}|(\.\d\d\d*?)0+)$/, '$1$2')
}
