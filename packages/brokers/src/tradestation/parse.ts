/** Accounts, balances and positions in the core's terms. Pure; throws Malformed and nothing else. */

import { isPositive, negated } from '@trunkline/core/domain/decimal'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { BalanceReport, BrokerAccount, PositionReport } from '@trunkline/core/ports/broker'
import { decimal, displayTextOrNull, field, member, nestedOrNull, text, type Wire } from '../kit/parse.ts'
import { amount, records } from './answers.ts'
import { ASSET_CLASSES } from './enums.ts'
import { ourSymbol } from './symbols.ts'

export function parseAccount(wire: Wire): BrokerAccount {
  const brokerAccountId = text(wire, 'AccountID', 64)
  return {
    brokerAccountId,
    accountNumber: brokerAccountId,
    institutionName: 'TradeStation',
    name: displayTextOrNull(wire, 'Alias'),
    accountType: displayTextOrNull(wire, 'AccountType'),
    currency: displayTextOrNull(wire, 'Currency', 8)
  }
}

const NOTHING: Wire = {}

/** One record a currency. `currency` is the account's own; only futures accounts hold others. */
export function parseBalances(wire: Wire, currency: string, asOf: Timestamp): readonly BalanceReport[] {
  const detail = nestedOrNull(wire, 'BalanceDetail') ?? NOTHING
  const account: BalanceReport = {
    brokerAccountId: text(wire, 'AccountID', 64),
    currency,
    cash: amount(wire, 'CashBalance'),
    buyingPower: amount(wire, 'BuyingPower'),
    initialMargin: amount(detail, 'InitialMargin') ?? amount(detail, 'RequiredMargin'),
    maintenanceMargin: amount(detail, 'MaintenanceMargin'),
    regTBuyingPower: amount(detail, 'OvernightBuyingPower'),
    equity: amount(wire, 'Equity'),
    marketValue: amount(wire, 'MarketValue'),
    asOf
  }
  const currencies = field(wire, 'CurrencyDetails')
  if (!Array.isArray(currencies) || currencies.length === 0) return [account]
  // What the account has as a whole is reported in its own currency, and belongs to no other.
  const whole = { buyingPower: account.buyingPower, equity: account.equity, marketValue: account.marketValue }
  const none = { buyingPower: null, equity: null, marketValue: null }
  return records(wire, 'CurrencyDetails').map(part => {
    const own = text(part, 'Currency', 8)
    return {
      ...account,
      ...(own === currency ? whole : none),
      currency: own,
      cash: amount(part, 'CashBalance'),
      initialMargin: amount(part, 'InitialMargin'),
      maintenanceMargin: amount(part, 'MaintenanceMargin'),
      regTBuyingPower: null
    }
  })
}

export function parsePosition(wire: Wire): PositionReport {
  const instrument = member(wire, 'AssetType', ASSET_CLASSES)
  const quantity = decimal(wire, 'Quantity')
  return {
    brokerAccountId: text(wire, 'AccountID', 64),
    symbol: ourSymbol(text(wire, 'Symbol', 64), instrument),
    instrument,
    // Short positions are documented as negative; one that is not is short all the same.
    quantity: field(wire, 'LongShort') === 'Short' && isPositive(quantity) ? negated(quantity) : quantity,
    lastPrice: amount(wire, 'Last'),
    averagePrice: amount(wire, 'AveragePrice'),
    unrealizedPl: amount(wire, 'UnrealizedProfitLoss'),
    // The broker reports what was realized of an account, not of a position: without it the total is not known.
    realizedPl: null,
    dailyPl: amount(wire, 'TodaysProfitLoss'),
    totalPl: null,
    brokerPositionId: text(wire, 'PositionID', 64)
  }
}
