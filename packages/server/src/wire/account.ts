import type { Account, Balance, Position, Transaction } from '@trunkline/core/domain/account'
import { ACCOUNT_TYPES, accountTypeOf } from '@trunkline/core/domain/account-type'
import type { UserId } from '@trunkline/core/domain/ids'
import { INSTRUMENTS, TRANSACTION_TYPES } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { maybe, money, quantity } from './amounts.ts'
import { day, decimal, nullable, oneOf, record, timestamp, uuid } from './common.ts'

const maybeDecimal = nullable(decimal)
const maybeText = nullable(Type.String())
const systemTime = Type.String({
  format: 'date-time',
  description: 'When the broker last confirmed this record.',
  examples: ['2026-11-21T14:30:00.123456Z']
})
const owner = { connection_id: uuid, account_id: uuid, account_number: Type.String(), user_id: Type.String() }

export const accountRecord = record('Account', 'A broker account.', {
  account_id: uuid,
  account_number: Type.String(),
  institution_name: Type.String(),
  broker: Type.String(),
  connection_id: uuid,
  name: maybeText,
  account_type: nullable(oneOf(ACCOUNT_TYPES), 'Null if the broker does not provide it.'),
  broker_account_type: nullable(Type.String(), 'The broker’s own value.'),
  currency_code: maybeText
})
export const accountList = Type.Array(accountRecord)

export const balanceRecord = record('Balance', 'Amounts of one account in one currency. Null if the broker does not report it.', {
  ...owner,
  currency_code: Type.String(),
  cash: maybeDecimal,
  buying_power: maybeDecimal,
  initial_margin: maybeDecimal,
  maintenance_margin: maybeDecimal,
  reg_t_buying_power: maybeDecimal,
  equity: maybeDecimal,
  market_value: maybeDecimal,
  system_time: systemTime
})
export const balanceList = Type.Array(balanceRecord)

export const positionRecord = record('Position', 'A holding. A negative quantity is short. Null if the broker does not report it.', {
  ...owner,
  symbol: Type.String(),
  instrument: oneOf(INSTRUMENTS),
  quantity: decimal,
  last_price: maybeDecimal,
  position_average_price: maybeDecimal,
  unrealized_pl: maybeDecimal,
  realized_pl: maybeDecimal,
  daily_pl: maybeDecimal,
  total_pl: maybeDecimal,
  broker_position_id: maybeText,
  system_time: systemTime
})
export const positionList = Type.Array(positionRecord)

export const transactionRecord = record('Transaction', 'A change of the account’s cash or holdings.', {
  transaction_id: uuid,
  ...owner,
  type: oneOf(TRANSACTION_TYPES),
  broker_type: maybeText,
  symbol: maybeText,
  instrument: nullable(oneOf(INSTRUMENTS)),
  quantity: maybeDecimal,
  price: maybeDecimal,
  amount: nullable(decimal, 'The change of the account’s cash; negative if it decreased.'),
  fees: maybeDecimal,
  currency_code: maybeText,
  date: day,
  settlement_date: nullable(day),
  order_id: nullable(uuid),
  description: maybeText,
  system_time: timestamp
})
export const transactionList = Type.Array(transactionRecord)

export function presentAccount(account: Account): Static<typeof accountRecord> {
  return {
    account_id: account.accountId,
    account_number: account.accountNumber,
    institution_name: account.institutionName,
    broker: account.broker,
    connection_id: account.connectionId,
    name: account.name,
    account_type: accountTypeOf(account.accountType),
    broker_account_type: account.accountType,
    currency_code: account.currency
  }
}

export function presentBalance(
  userId: UserId,
  account: Pick<Account, 'connectionId' | 'accountId' | 'accountNumber'>,
  balance: Balance
): Static<typeof balanceRecord> {
  return {
    connection_id: account.connectionId,
    account_id: account.accountId,
    account_number: account.accountNumber,
    user_id: userId,
    currency_code: balance.currency,
    cash: maybe(money, balance.cash),
    buying_power: maybe(money, balance.buyingPower),
    initial_margin: maybe(money, balance.initialMargin),
    maintenance_margin: maybe(money, balance.maintenanceMargin),
    reg_t_buying_power: maybe(money, balance.regTBuyingPower),
    equity: maybe(money, balance.equity),
    market_value: maybe(money, balance.marketValue),
    system_time: balance.systemTime
  }
}

export function presentPosition(
  userId: UserId,
  account: Pick<Account, 'connectionId' | 'accountId' | 'accountNumber'>,
  position: Position
): Static<typeof positionRecord> {
  return {
    connection_id: account.connectionId,
    account_id: account.accountId,
    account_number: account.accountNumber,
    user_id: userId,
    symbol: position.symbol,
    instrument: position.instrument,
    quantity: quantity(position.quantity),
    last_price: maybe(money, position.lastPrice),
    position_average_price: maybe(money, position.averagePrice),
    unrealized_pl: maybe(money, position.unrealizedPl),
    realized_pl: maybe(money, position.realizedPl),
    daily_pl: maybe(money, position.dailyPl),
    total_pl: maybe(money, position.totalPl),
    broker_position_id: position.brokerPositionId,
    system_time: position.systemTime
  }
}

export function presentTransaction(userId: UserId, account: Account, transaction: Transaction): Static<typeof transactionRecord> {
  return {
    transaction_id: transaction.transactionId,
    connection_id: account.connectionId,
    account_id: account.accountId,
    account_number: account.accountNumber,
    user_id: userId,
    type: transaction.type,
    broker_type: transaction.brokerType,
    symbol: transaction.symbol,
    instrument: transaction.instrument,
    quantity: maybe(quantity, transaction.quantity),
    price: maybe(money, transaction.price),
    amount: maybe(money, transaction.amount),
    fees: maybe(money, transaction.fees),
    currency_code: transaction.currency,
    date: transaction.day,
    settlement_date: transaction.settlementDay,
    order_id: transaction.orderId,
    description: transaction.description,
    system_time: transaction.systemTime
  }
}
